"""Programs that are measured as a whole, from the start of their process.

Above is `first_result`, which runs each as a new process. Below are the public library and the subjects.
"""
