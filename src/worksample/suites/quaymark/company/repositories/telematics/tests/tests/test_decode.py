import unittest

from telematics.decode import decode
from telematics.gateway import request


class Frames(unittest.TestCase):
    def test_frame(self):
        self.assertEqual(decode("QM-07;2026-03-02T05:31;118231.4;3.8")["odometer"], 118231.4)

    def test_a_sensor_that_says_nothing(self):
        self.assertIsNone(decode("QM-07;2026-03-02T05:31;-;3.8")["odometer"])

    def test_rubbish(self):
        with self.assertRaises(ValueError):
            decode("hello")


class Requests(unittest.TestCase):
    def test_where(self):
        self.assertIn("/antwerp/frames?since=2026-03-01", request("antwerp", "2026-03-01").full_url)
