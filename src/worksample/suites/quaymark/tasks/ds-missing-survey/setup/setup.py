# ruff: noqa: E501
"""Rafael writes to Jules, on the morning that the work begins."""

import base64
import json
import os
import urllib.request

secret = os.environ["WORKPLACE_OPERATOR"]
word = base64.b64encode(f"operator:{secret}".encode()).decode()
text = (
    "Good morning Jules, and welcome! For the board on Thursday I need the satisfaction of our customers in the fourth quarter of 2025, by depot:"
    " the mean of all answers to the three questions, and from how many answers it comes. Please put it into"
    " data/results/satisfaction-2025-q4.csv. I have not looked for the answers myself; surveys are Imani's."
)
urllib.request.urlopen(
    urllib.request.Request(
        "http://127.0.0.1:3000/api/direct/jules?as=rafael",
        data=json.dumps({"text": text}).encode(),
        headers={"Authorization": f"Basic {word}"},
    )
)
