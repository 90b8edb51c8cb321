"""What a Jupyter kernel costs when it is reached directly and through a gateway, ours and the one as it comes.

Above is `bench.__main__`, which runs each measurement in turn. Below are the subjects of `bench.subjects`, and `stock`:
a Kernel Gateway and a client as they come, which run in the interpreter that has them and import nothing of ours.
"""
