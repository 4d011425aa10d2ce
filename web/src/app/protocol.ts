/** Made by `python -m worksample.app.web_constants`; a test says when it is stale. */

export const PROTOCOL = {
  "roles": [
    "evaluator",
    "expert",
    "worker",
    "reviewer",
    "admin"
  ],
  "rules": [
    "latest",
    "majority",
    "tie_break",
    "mean",
    "verified"
  ],
  "kinds": {
    "holistic": {
      "roles": [
        "evaluator",
        "expert",
        "admin"
      ],
      "rule": "majority",
      "overlap": 3,
      "form": "holistic",
      "over": false
    },
    "pairwise": {
      "roles": [
        "evaluator",
        "expert",
        "admin"
      ],
      "rule": "tie_break",
      "overlap": 2,
      "form": "pairwise",
      "over": false
    },
    "rubric": {
      "roles": [
        "expert",
        "admin"
      ],
      "rule": "latest",
      "overlap": 1,
      "form": "rubric",
      "over": false
    },
    "tags": {
      "roles": [
        "evaluator",
        "expert",
        "admin"
      ],
      "rule": "latest",
      "overlap": 1,
      "form": "tags",
      "over": false
    },
    "audit": {
      "roles": [
        "reviewer",
        "admin"
      ],
      "rule": "latest",
      "overlap": 1,
      "form": null,
      "over": true
    },
    "false_negatives": {
      "roles": [
        "reviewer",
        "admin"
      ],
      "rule": "latest",
      "overlap": 1,
      "form": null,
      "over": true
    },
    "reliability": {
      "roles": [
        "evaluator",
        "expert",
        "admin"
      ],
      "rule": "majority",
      "overlap": 2,
      "form": null,
      "over": true
    },
    "adjudication": {
      "roles": [
        "reviewer",
        "admin"
      ],
      "rule": "latest",
      "overlap": 1,
      "form": null,
      "over": true
    },
    "integrity": {
      "roles": [
        "reviewer",
        "admin"
      ],
      "rule": "latest",
      "overlap": 1,
      "form": "integrity",
      "over": true
    },
    "pilot": {
      "roles": [
        "evaluator",
        "expert",
        "admin"
      ],
      "rule": "majority",
      "overlap": 2,
      "form": null,
      "over": false
    },
    "calibration": {
      "roles": [
        "evaluator",
        "expert",
        "admin"
      ],
      "rule": "latest",
      "overlap": 1,
      "form": null,
      "over": false
    },
    "qualification": {
      "roles": [
        "expert",
        "admin"
      ],
      "rule": "verified",
      "overlap": 1,
      "form": "qualification",
      "over": false
    }
  },
  "forms": {
    "holistic": {
      "reference": true,
      "gold": [
        {
          "name": "score",
          "type": "choice",
          "label": "Would a reasonable client accept the alternative as the commissioned work?",
          "options": [
            {
              "value": "1",
              "label": "No: worse than the reference allows, it would not be accepted"
            },
            {
              "value": "2",
              "label": "Yes: it satisfies the brief as well as the reference"
            },
            {
              "value": "3",
              "label": "Yes, and it is better than the reference overall"
            }
          ]
        }
      ]
    },
    "pairwise": {
      "reference": true,
      "gold": [
        {
          "name": "completion",
          "type": "choice",
          "label": "Which is closer to what a reasonable client would accept?",
          "options": [
            {
              "value": "first",
              "label": "AD-1"
            },
            {
              "value": "equal",
              "label": "Equal"
            },
            {
              "value": "second",
              "label": "AD-2"
            }
          ]
        },
        {
          "name": "quality",
          "type": "choice",
          "label": "Which has the higher overall quality?",
          "options": [
            {
              "value": "first",
              "label": "AD-1"
            },
            {
              "value": "equal",
              "label": "Equal"
            },
            {
              "value": "second",
              "label": "AD-2"
            }
          ]
        }
      ]
    },
    "rubric": {
      "reference": false,
      "gold": [
        {
          "name": "marks",
          "type": "criteria",
          "label": "Judge each criterion separately, as it is worded",
          "options": [
            {
              "value": "pass",
              "label": "Pass"
            },
            {
              "value": "fail",
              "label": "Fail"
            },
            {
              "value": "not_applicable",
              "label": "Skip: does not apply"
            },
            {
              "value": "cannot_judge",
              "label": "Skip: I cannot judge it"
            }
          ]
        }
      ]
    },
    "tags": {
      "reference": true,
      "gold": [
        {
          "name": "tags",
          "type": "tags",
          "label": "What is wrong with it?",
          "options": [
            {
              "value": "corrupt",
              "label": "Corrupt or empty files"
            },
            {
              "value": "incomplete",
              "label": "Incomplete"
            },
            {
              "value": "poor_quality",
              "label": "Poor quality"
            },
            {
              "value": "inconsistent",
              "label": "Files that do not match each other"
            }
          ]
        }
      ]
    },
    "integrity": {
      "reference": true,
      "gold": [
        {
          "name": "finding",
          "type": "choice",
          "label": "How was the work done?",
          "options": [
            {
              "value": "sound",
              "label": "Sound: honest work on the brief"
            },
            {
              "value": "shortcut",
              "label": "Shortcut: it avoided doing the work"
            },
            {
              "value": "leak",
              "label": "Leak: it saw the reference or the grader"
            },
            {
              "value": "spurious",
              "label": "Spurious: the verdict comes from a failure of the platform"
            }
          ]
        }
      ]
    },
    "qualification": {
      "reference": true,
      "gold": []
    }
  },
  "defaults": {
    "per_pair": 10,
    "sample": 50,
    "positives": 0.5,
    "domains": false,
    "training": true,
    "lease_minutes": 15,
    "most_open": 3
  },
  "gates": {
    "pilot": 0.85,
    "fewest": 5,
    "quiz": 0.85
  }
} as const;
