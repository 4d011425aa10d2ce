"""Clusters of criteria: planted ones are found, indices equal scikit-learn's, and providers' faults are reported."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.run_cli import cli_json
from reports.people_world import PeopleWorld
from worksample.errors import ModelKeyError, UsageError, WorksampleError
from worksample.records import Agent, Criteria, Criterion, GradePayload, Importance, PartPayload, Protocol, SkipReason
from worksample.reports.clusters import ClusterConfig, cluster_criteria, cluster_vectors, embed
from worksample.reports.clusters.cluster_labels import label_groups
from worksample.reports.clusters.clustering import rand_index
from worksample.reports.clusters.embedded_texts import unit_vectors
from worksample.store import Store

TOPICS = {
    "translation": (
        "The translation into {} is complete",
        "Every sentence is translated into {}",
        "{} translation keeps all names",
    ),
    "length": (
        "The text has at most {} words",
        "Word count of the text stays below {} words",
        "The text is {} words long",
    ),
    "columns": (
        "The spreadsheet has a column for {}",
        "A spreadsheet column lists {}",
        "Column {} of the spreadsheet is filled",
    ),
    "sources": (
        "The report cites {} sources",
        "Sources are cited with {} links",
        "Each claim of the report cites {} sources",
    ),
}
FILL = ("German", "French", "ninety", "forty", "March", "price", "two", "seven")


def planted() -> tuple[list[str], list[str]]:
    """Texts, and the topic of each."""
    pairs = [(form.format(f), name) for name, forms in TOPICS.items() for form in forms for f in FILL]
    return [p[0] for p in pairs], [p[1] for p in pairs]


@pytest.mark.parametrize(("by", "every"), [("tfidf", 1), ("minilm", 4)])
def test_planted_topics_are_found(by: str, every: int) -> None:
    from scipy.cluster.hierarchy import fcluster, linkage

    texts, topics = (side[::every] for side in planted())
    truth = np.unique(topics, return_inverse=True)[1]
    vectors = embed(texts, by).vectors
    four = fcluster(linkage(vectors, "ward"), 4, criterion="maxclust")
    assert rand_index(np.asarray(four - 1, dtype=np.int64), truth) > 0.5
    # The best silhouette may split a topic, and seldom puts two together.
    found = cluster_vectors(vectors, ClusterConfig(linkage="ward"))
    pure = [len({topics[i] for i in np.flatnonzero(found.groups == g)}) for g in range(found.groups.max() + 1)]
    assert np.mean(np.array(pure) == 1) > 0.7
    assert found.groups.max() >= 3 and found.silhouette is not None and found.silhouette > 0.1


def test_minilm_reproduces_published_similarities() -> None:
    """The example of the sentence-transformers documentation, run there with PyTorch."""
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    made = embed(texts, "minilm").vectors
    np.testing.assert_allclose(
        made @ made.T, [[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]], atol=1e-3
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40))
def test_index_matches_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    from sklearn.metrics import adjusted_rand_score

    one, other = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    assert rand_index(one, other) == pytest.approx(adjusted_rand_score(one, other))


@pytest.mark.parametrize("method", ["average", "complete", "ward"])
def test_clusters_and_silhouette_match_scikit_learn(method: Any) -> None:
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.metrics import silhouette_score

    # Without equal distances, which each may break another way.
    noise = np.random.default_rng(1).normal(scale=0.01, size=(96, 1))
    vectors = unit_vectors(np.hstack([embed(planted()[0]).vectors, noise, noise**2, np.flip(noise)]))
    found = cluster_vectors(vectors, ClusterConfig(linkage=method))
    metric = "euclidean" if method == "ward" else "cosine"
    peer = AgglomerativeClustering(None, metric=metric, linkage=method, distance_threshold=found.cut + 1e-9)
    labels = peer.fit_predict(vectors)
    assert rand_index(found.groups, labels.astype(np.int64)) == 1
    assert found.silhouette == pytest.approx(silhouette_score(vectors, labels, metric="cosine"))
    sizes = np.bincount(found.groups)
    assert list(sizes) == sorted(sizes, reverse=True)


def test_labels_are_the_words_that_distinguish_a_cluster() -> None:
    texts, topics = planted()
    groups = np.unique(topics, return_inverse=True)[1].astype(np.int64)
    labels = label_groups(texts, groups)
    for n, name in enumerate(sorted(TOPICS)):
        word = {"columns": "spreadsheet", "length": "text", "sources": "cite", "translation": "translat"}[name]
        assert word in labels[n], labels


def _with(instance: Any, texts: Sequence[str]) -> Any:
    leaves = [Criterion(id=f"c{n}", text=t, importance=Importance.CRITICAL) for n, t in enumerate(texts)]
    old = next(iter(instance.grading.values()))
    grading = old.replaced(protocol=Protocol.RUBRIC, criteria=Criteria(criteria=tuple(leaves)))
    return instance.replaced(grading={Protocol.RUBRIC: grading})


def test_agents_failures_are_reported_by_cluster(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    texts, _ = planted()
    per = len(texts) // 4

    class Jobs(PeopleWorld):
        def _project(self, n: int, price: float | None) -> Any:
            return _with(super()._project(n, price), [texts[k * per + n] for k in range(4)])

    made = Jobs(store, Protocol.RUBRIC, [Agent.of("ann", "worker", model="m/1")], [100.0] * 12)
    made.round("r", Protocol.RUBRIC, 1)
    for n in range(12):
        parts = [PartPayload(name=f"c{k}", importance=Importance.CRITICAL, fraction=float(k != 0)) for k in range(4)]
        parts[3] = PartPayload(name="c3", importance=Importance.CRITICAL, skip=SkipReason.NOT_APPLICABLE)
        made.say("r", made.work(0, n), n, GradePayload(score=2 / 3, parts=tuple(parts)))
    found = cluster_criteria(store, [made.experiment], ClusterConfig(linkage="ward", resamples=5))
    assert (found.criteria, found.answers) == (48, 36)
    assert sum(line.criteria for line in found.lines) + found.rest == 48
    failing = [line for line in found.lines if line.failure and next(iter(line.failure.values())).value == 1]
    assert sum(line.failed.value or 0 for line in failing) == pytest.approx(1)
    assert all("translat" in line.label or "translat" in line.example for line in failing)
    assert set(found.held) == {"5 resamples of four fifths", "average linkage", "complete linkage"}
    told = cli_json("clusters", "--store", tmp_path / "s", "--linkage", "ward", "--beside", "minilm", "--count", "3")
    assert (told["criteria"], len(told["lines"]), told["by"]) == (48, 3, found.by)
    assert any("MiniLM" in name for name in told["held"])


def test_too_few_criteria_are_reported(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    made = PeopleWorld(store, Protocol.RUBRIC, [Agent.of("ann", "worker")], [100.0])
    with pytest.raises(UsageError, match="3 are needed"):
        cluster_criteria(store, [made.experiment])
    with pytest.raises(UsageError, match="unknown embedding 'word2vec'"):
        embed(["a b", "c d"], "word2vec")


def test_empty_and_equal_texts_are_grouped() -> None:
    found = cluster_vectors(embed(["?!", "...", "five words here", "five words there", "99"]).vectors, ClusterConfig())
    assert len(found.groups) == 5 and found.groups[2] == found.groups[3]
    same = cluster_vectors(embed(["the same text"] * 4).vectors, ClusterConfig())
    assert set(same.groups.tolist()) == {0} and same.silhouette is None


@contextmanager
def service(*answers: tuple[int, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A provider that gives these answers in turn, the last one for ever; yields its address and what it was asked."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            code, body = answers[min(len(asked), len(answers)) - 1]
            told = body(asked[-1]["input"]) if callable(body) else body
            data = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _vectors(texts: Sequence[str]) -> dict[str, Any]:
    rows = [{"index": n, "embedding": [float(len(t)), 1.0, 0.0]} for n, t in enumerate(texts)]
    return {"data": rows[::-1]}


def test_providers_embeddings_keep_the_order_of_texts() -> None:
    texts = ["x" * n for n in range(1, 400)]
    with service((429, {}), (200, _vectors)) as (url, asked):
        made = embed(texts, "acme/embed-3", base_url=url)
    assert [len(a["input"]) for a in asked] == [256, 256, 143] and {a["model"] for a in asked} == {"embed-3"}
    np.testing.assert_allclose(made.vectors[:, 0] / made.vectors[:, 1], np.arange(1, 400))
    assert made.by == "acme/embed-3, 3 dimensions"


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        ((401, {"error": "Incorrect API key"}), ModelKeyError, "Incorrect API key"),
        ((500, b"down"), WorksampleError, "no embeddings in the answer \\(500\\): down"),
        ((200, b"{nonsense"), WorksampleError, "no embeddings"),
        ((200, {"data": []}), WorksampleError, "0 vectors for 3 texts"),
        ((200, {"data": [{"index": n, "embedding": [1.0] * (n + 1)} for n in range(3)]}), WorksampleError, "unequal"),
    ],
)
def test_providers_faults_are_reported(answer: tuple[int, Any], error: type[Exception], said: str) -> None:
    with service(answer) as (url, _), pytest.raises(error, match=said):
        embed(["a", "b", "c"], "acme/embed-3", base_url=url)


def test_missing_provider_address_is_requested() -> None:
    with pytest.raises(UsageError, match="address of the provider 'acme' is not known"):
        embed(["a", "b", "c"], "acme/embed-3")
