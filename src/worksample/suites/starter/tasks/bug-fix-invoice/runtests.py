"""Runs test_regression.py and writes how many tests ran and how many did not pass."""

import json
import unittest

suite = unittest.defaultTestLoader.loadTestsFromName("test_regression")
result = unittest.TestResult()
suite.run(result)
bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
with open("result.json", "w") as file:  # noqa: PTH123
    json.dump({"run": result.testsRun - len(result.skipped), "bad": bad}, file)
