"""scikit-learn: estimators that were fitted in parallel, and fit again."""

from tests.state.catalogue.entry import Entry, Library

SKLEARN = Library(
    "scikit-learn",
    environment="data",
    modules=("sklearn",),
    setup="""
import numpy as np
from sklearn import cluster, compose, covariance, decomposition, ensemble, feature_extraction, gaussian_process
from sklearn import linear_model, mixture, model_selection, naive_bayes, neighbors, neural_network, pipeline
from sklearn import preprocessing, svm, tree

rows = np.random.default_rng(2).random((400, 6))
kinds = (rows[:, 0] > rows[:, 1]).astype(int)
""",
    entries=(
        Entry(
            "KMeans",
            "x = cluster.KMeans(3, n_init=1, random_state=0).fit(rows)",
            "round(float(x.fit(rows).inertia_), 6)",
        ),
        Entry(
            "HistGradientBoostingClassifier",
            "x = ensemble.HistGradientBoostingClassifier(max_iter=5).fit(rows, kinds)",
            "float(x.fit(rows, kinds).score(rows, kinds))",
        ),
        Entry(
            "RandomForestClassifier",
            "x = ensemble.RandomForestClassifier(8, n_jobs=2, random_state=0).fit(rows, kinds)",
            "float(x.fit(rows, kinds).score(rows, kinds))",
        ),
        Entry(
            "GradientBoostingRegressor",
            "x = ensemble.GradientBoostingRegressor(n_estimators=5, random_state=0).fit(rows, kinds)",
            "round(float(x.predict(rows).sum()), 6)",
        ),
        Entry(
            "IsolationForest",
            "x = ensemble.IsolationForest(n_estimators=8, random_state=0).fit(rows)",
            "int(x.predict(rows).sum())",
        ),
        Entry(
            "LogisticRegression",
            "x = linear_model.LogisticRegression().fit(rows, kinds)",
            "float(x.score(rows, kinds))",
        ),
        Entry(
            "SGDClassifier (partly fitted)",
            "x = linear_model.SGDClassifier(random_state=0).partial_fit(rows, kinds, classes=[0, 1])",
            "float(x.partial_fit(rows, kinds).score(rows, kinds))",
        ),
        Entry(
            "DecisionTreeClassifier",
            "x = tree.DecisionTreeClassifier(random_state=0).fit(rows, kinds)",
            "int(x.apply(rows).sum())",
        ),
        Entry("SVC", "x = svm.SVC().fit(rows, kinds)", "float(x.score(rows, kinds))"),
        Entry("GaussianNB", "x = naive_bayes.GaussianNB().fit(rows, kinds)", "float(x.score(rows, kinds))"),
        Entry(
            "MLPClassifier",
            "x = neural_network.MLPClassifier((8,), max_iter=300, random_state=0).fit(rows, kinds)",
            "float(x.score(rows, kinds))",
        ),
        Entry(
            "GaussianMixture", "x = mixture.GaussianMixture(2, random_state=0).fit(rows)", "int(x.predict(rows).sum())"
        ),
        Entry(
            "GaussianProcessRegressor",
            "x = gaussian_process.GaussianProcessRegressor().fit(rows[:40], kinds[:40])",
            "round(float(x.predict(rows[:1])[0]), 6)",
        ),
        Entry(
            "NearestNeighbors",
            "x = neighbors.NearestNeighbors(n_neighbors=3, n_jobs=2).fit(rows)",
            "int(x.kneighbors(rows, return_distance=False).sum())",
        ),
        Entry("BallTree", "x = neighbors.BallTree(rows)", "int(x.query(rows, 2)[1].sum())"),
        Entry("PCA", "x = decomposition.PCA(2).fit(rows)", "round(float(np.abs(x.transform(rows)).sum()), 6)"),
        Entry(
            "StandardScaler", "x = preprocessing.StandardScaler().fit(rows)", "round(float(x.transform(rows).std()), 9)"
        ),
        Entry(
            "TfidfVectorizer",
            "x = feature_extraction.text.TfidfVectorizer().fit(['a bird', 'two birds'])",
            "x.transform(['two']).nnz",
        ),
        Entry(
            "Pipeline",
            "x = pipeline.make_pipeline(preprocessing.StandardScaler(), svm.SVC()).fit(rows, kinds)",
            "float(x.score(rows, kinds))",
        ),
        Entry(
            "ColumnTransformer",
            "x = compose.ColumnTransformer([('a', preprocessing.MinMaxScaler(), [0, 1])]).fit(rows)",
            "x.transform(rows).shape",
        ),
        Entry(
            "GridSearchCV",
            "x = model_selection.GridSearchCV(tree.DecisionTreeClassifier(random_state=0),"
            " {'max_depth': [2, 4]}, cv=2).fit(rows, kinds)",
            "x.best_params_",
        ),
        Entry("KFold (begun)", "x = model_selection.KFold(5).split(rows); next(x)", "int(next(x)[1][0])"),
    ),
)
