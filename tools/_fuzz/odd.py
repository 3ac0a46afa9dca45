"""Values and tokens that programs stumble over."""

from __future__ import annotations

from typing import Any

# fmt: off
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 100, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**400, 1e308,
    1e-308,
    -0.0, 1e-300, 0.1, 0.5, 1.5, float("nan"), float("inf"), float("-inf"), "", " ", "a", "\x00", "a\x00b", "\ud800",
    "\udfff\ud800", "a/b", "..", "../../etc/passwd", "C:\\x", "\n", "\r\n", "\u2028", "\x1b[2J", "1", "-1", "1.0",
    "1e999",
    "nan", "NaN", "inf", "Infinity", "null", "None", "true", "True", "false", "yes", "no", "N/A", "[]", "{}", '"', "'",
    ",", ";", "\t", "0x10", "1_000", "1,000", "50%", "٣", "½", "e\u0301" * 20, "\u202eabc", "😀" * 10, "x" * 5000,
    "y" * 70_000, [], {}, [[]], [None], [{}], [0], [1, "a", {}], ["a"] * 3, [1.0] * 300, {"a": None}, {"": []},
    {"id": 1},
    {"text": "a"}, {"a": {"a": {"a": {"a": 1}}}}, [[[[[[1]]]]]], "2024-13-45T99:99:99", "9999-12-31T23:59:59-12:00",
    "0001-01-01", "2024-02-30", "2024-01-01T00:00:00Z", "1970-01-01 00:00:00.123456789", "١٢", "C", "I", "P", "N",
]
TOKENS = [
    b"\x00", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"[",
    b"{",
    b"]", b"}", b'"', b"'", b",", b":", b"\\", b"\\u", b"\\ud800", b"\\udc00\\ud800", b"\\u0000", b"\n", b"\r", b"\r\n",
    b"\t", b" ", b"NaN", b"-Infinity", b"Infinity", b"nan", b"1e999", b"-1e999", b"1e-999", b"9" * 400, b"9" * 5000,
    b"-0",
    b"0x1", b"null", b"true", b"false", b"[" * 3000, b'{"a":' * 600, b"[" * 100_000, b"}" * 3, b"]" * 3, b"PK\x03\x04",
    b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x07\x08", b"\x1f\x8b", b"\x1f\x8b\x08\x00",
    b"\x28\xb5\x2f\xfd", b"PAR1", b"../", b"/", b"//comment", b"#", b"e", b".", b"-", b"1", b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\x00" * 8, b"\xff" * 8, b"a" * 1000, b"a" * 70_000, b'""', b'"a":1,',
]
NUMBERS = [
    b"0", b"-0", b"1", b"-1", b"0.5", b"1.0000000000000002", b"1e5", b"1E400", b"-1e400", b"1e-400", b"NaN",
    b"Infinity",
    b"-Infinity", b"null", b'"1"', b"2147483648", b"9007199254740993", b"9223372036854775807", b"9223372036854775808",
    b"18446744073709551616", b"-9223372036854775809", b"1" + b"0" * 400, b"3" * 4400, b"01", b"1.", b".5", b"+1",
    b"0x10",
    b"1_0", b"true", b"[]", b"{}", b"100", b"101", b"-100", b"1e2",
]
NAMES = [
    "", "x", "..", "a/b", "id", "model", "task", "score", "\ud800", "\x00", "\n", "a" * 1000, "é", "e\u0301",
    "__class__",
    "__proto__", "0", "null", " ", "ID", "Model", "model ", "a.b", "$ref", "@type", "%s", "{0}", "<b>", "'", '"',
]
MEMBERS = [
    "../x.json", "../../../../etc/passwd", "/etc/passwd", "C:\\windows\\x", "\\\\host\\share", "samples/../x.json",
    "samples/..//x.json", "samples/x\ny.json", "samples/a/b/c.json", "samples/", "./x", "", "\x00.json", "x" * 60_000,
    "samples/" + "a/" * 5000 + "x.json", "header.json", "HEADER.JSON", "samples/1_epoch_1.json", "\udcff\udcfe", "con",
    "samples/1_epoch_1.json/sample.json", "_journal/start.json", "summaries.json", "é\u0301.json", "🙂.json",
    "a:b|c*?.json",
]
FILES = [
    "x", "log.txt", "a b.json", "é.json", "x.eval", "x.json", "x.jsonl", "x.csv", "x.tsv", "x.parquet", "x.zip", "x.gz",
    "results.json", "run_spec.json", "stats.json", "scores_x.json", "details_t|0_2024-01-01T00-00-00.000000.parquet",
    "samples_a_b_2024-07-01T10-11-12.000013.jsonl", "results_2024-07-01T10-11-12.000013.json", "a\nb.json", "-rf.json",
    "x" * 240 + ".json", "%s.json", "{0}.csv", "\x1b[2J.json", "deep/er/and/deeper/x.json", "2024-01-01_x/results.json",
]
# fmt: on
