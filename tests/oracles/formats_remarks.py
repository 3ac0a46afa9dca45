"""What is odd about a file, in a line; written with the file open in an editor, not by a program."""

from __future__ import annotations

_CHUNKED = "generated/chunked_0.3.285_3epochs_status_error.eval"
_DEMO = "every_eval_ever/data/demo-source/demo-org/demo-model/f3a1c0de-4b2e-4c1a-9f6d-1b7e5a2c8d40"
_HELLASWAG = "commonsense-dataset=hellaswag,method=multiple_choice_joint,model=eleutherai_pythia-1b-v0"
_MATH = "2026-01-21T03-44-18.458309"
_UNPARSED = {"Llama-2-13b-hf": "2,019", "Llama-2-70b-hf": "1,444", "Llama-2-7b-hf": "2,061"}
_GUESSED = ("Meta-Llama-3_1-70B", "Meta-Llama-3_1-8B")
_CHAT = (
    "gpt-3.5-turbo-0125/basqueglue_bec",
    "gpt-3.5-turbo-0125/eus_exams_eu_opeosakiceladoreu_test",
    "gpt-3.5-turbo-0125/eus_exams_eu_opeosakioperarioeu_test",
    "gpt-4-0613/basqueglue_bec",
)

_INSPECT = {
    "every_eval_ever/data_cyse2_vuln_exploit_challenges.json": "trimmed by whoever published it: results of 2,340 "
    "samples, one left; the header names one id and 4 epochs",
    "every_eval_ever/data_with_llm_scoring.json": "no `version` and no `samples`: 1,000 were run, none was logged",
    _CHUNKED: "262 zstd members: samples in pieces (`sample.json`, `messages/`, `events/`), which its own writer "
    "cannot read; the run of `zstd_0.3.285_3epochs_status_error.eval` written again",
    "generated/zstd_0.3.285_12samples_success.eval": "zstd members",
    "generated/zstd_0.3.285_3epochs_status_error.eval": "zstd members; status `error`: epochs 2 and 3 are errors, "
    "one of them a cancellation, and id 11 of epoch 3 is not in the log; no results",
    "test_eval_log/log_formats.eval": "deflate; the same run as `log_formats.json`",
    "test_eval_log/log_formats.json": "the same run as `log_formats.eval`",
    "test_eval_log/log_images.json": "the question is a picture",
    "test_eval_log/log_images_tc.json": "the question is a picture; `transcript` and `tc://` as in 2024",
    "test_eval_log/log_invalid.txt": "30 bytes: JSON that ends after a key",
    "test_eval_log/log_length_stop_reason.txt": "JSON in a `.txt`; stop reason `length`, later called `max_tokens`",
    "test_eval_log/log_message_deduplication.eval": "`version` 3, which only a development build wrote: a "
    "`message_pool` beside the messages of the sample",
    "test_eval_log/log_streaming.eval": "2 samples, 2 epochs",
    "test_eval_log/log_tool_call_error.json": "written by hand: ids, texts and names are `...`; its one sample has "
    "no output and says epoch 4, the results speak of 4 samples",
    "test_eval_log/log_valid.txt": "JSON in a `.txt`; no samples; results under `scorers`, a key that no released "
    "writer used and `inspect_ai` does not read",
    "test_eval_log/log_version_3.txt": "named 3, says `version` 4, which `inspect_ai` refuses; as `log_valid.txt`",
    "test_eval_log/log_with_nan.txt": "`version` 1: results under `scorer` and `metrics`; accuracy is a bare `NaN`",
    "test_logs/2025-05-12T20-28-13-04-00_no-samples.json": "status `cancelled`; an empty list of samples "
    "beside results and reductions of 3",
    "test_logs/2025-05-12T20-28-13-04-00_popularity.json": "status `cancelled`, and yet all 3 samples are there",
    "test_logs_choices/mmlu-no-summary-choices.eval": "`summaries.json` without the choices of the item",
}
_MMLU_PRO = {
    **{
        m: f"zipped JSON array; {n} answers were not parsed (`pred` is null); no score in the file"
        for m, n in _UNPARSED.items()
    },
    **dict.fromkeys(_GUESSED, "zipped JSON array; where no answer was stated `pred` is a guess; no score in the file"),
}

REMARKS = {
    "every_eval_ever/LICENSE": "not a log",
    f"{_DEMO}.json": "names the file of its items, with their number and hash",
    f"{_DEMO}_samples.jsonl": "the items of the file beside it",
    "every_eval_ever/schemas/eval.schema.json": "a JSON Schema, not a log",
    "every_eval_ever/schemas/instance_level_eval.schema.json": "a JSON Schema, not a log",
    f"helm/{_HELLASWAG}": "5 files; 5 outputs were asked for, one completion each came; no finish reason is stated",
    "helm/narrative_qa-model=openai_gpt2": "5 files; two splits, 4 instances of `test` and 1 of `valid`",
    "inspect/LICENSE": "not a log",
    **{f"inspect/{name}": text for name, text in _INSPECT.items()},
    "lm_eval_0.3/LICENSE": "not a log",
    "lm_eval_0.4/latxa/LICENSE": "not a log",
    "lm_eval_0.4/latxa/llama-2/Llama-2-7b-hf/Llama-2-7b-hf_xstory_cloze_0-shot.json": "a 0.3 file among those of 0.4",
    **{f"lm_eval_0.4/latxa/{name}_5-shot.jsonl": "replies of a chat API, each with its `correct`" for name in _CHAT},
    f"lm_eval_0.4/results_{_MATH}.json": "two tasks of 5,000 items each, of which one has its samples beside it",
    f"lm_eval_0.4/samples_math_perturbed_full_{_MATH}.jsonl": "cut by whoever published it: the first 10 of 5,000",
    "mmlu_pro/LICENSE": "not a log",
    **{f"mmlu_pro/model_outputs_{m}_5shots.zip": text for m, text in _MMLU_PRO.items()},
    "openai_evals/230417220821DPM75QNS_auto_gpt_completion_fn_test-match.jsonl": "the report stands before the events",
}
"""By path below ``logs``."""
