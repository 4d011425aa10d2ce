"""Rosa writes to the assistant, on the morning that the work begins."""

import base64
import json
import os
import urllib.request

secret = os.environ["WORKPLACE_OPERATOR"]
word = base64.b64encode(f"operator:{secret}".encode()).decode()
text = (
    "Good morning Alex! When INV-1043 is done, put half an hour with me into your calendar, on the 12th at 14:00 UTC."
)
urllib.request.urlopen(
    urllib.request.Request(
        "http://127.0.0.1:3000/api/direct/assistant?as=rosa",
        data=json.dumps({"text": text}).encode(),
        headers={"Authorization": f"Basic {word}"},
    )
)
