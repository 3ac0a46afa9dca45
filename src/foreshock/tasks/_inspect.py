"""The two arithmetic tasks as Inspect tasks.

    pip install 'foreshock[inspect]'
    inspect eval foreshock/multiplication --model openai/gpt-4o-mini -T items=500
    inspect eval foreshock/addition --model vllm/EleutherAI/pythia-1.4b
    foreshock add logs/

Inspect imports this module when a task of this package is asked for (entry point ``inspect_ai``); nothing else does.
The problems are those of ``foreshock arithmetic``, with the same identity: runs of both can be compared item by item.
Examples stand before each question as earlier turns of a chat. Inspect gives no log-probabilities of a text that the
model did not write: for a twin from teacher forcing ask a completions endpoint with ``foreshock arithmetic``.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from foreshock.tasks._arithmetic import arithmetic, extract_number
from foreshock.tasks._prompts import chat_turns

MAX_TOKENS = 64
ROLES = {"user": ChatMessageUser, "assistant": ChatMessageAssistant}


@solver
def with_examples() -> Solver:
    """Put the examples before the question, as turns; the sample's input stays the question alone."""

    async def solve(state: TaskState, _: Generate) -> TaskState:
        turns = state.metadata["turns"]
        state.messages = [ROLES[role](content=content) for role, content in turns]
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def exact_number() -> Scorer:
    """The last whole number of the answer equals the target; it is kept as the extracted answer."""

    async def score(state: TaskState, target: Target) -> Score:
        said = extract_number(state.output.completion, "last")
        return Score(value=CORRECT if said == target.text else INCORRECT, answer=said)

    return score


@task
def multiplication(items: int = 500, shots: int = 2, digits: int = 2, seed: int = 0, epochs: int = 1) -> Task:
    """Products of two numbers of two digits."""
    return _task("multiplication", items, shots, digits, seed, epochs)


@task
def addition(items: int = 500, shots: int = 2, digits: int = 4, seed: int = 0, epochs: int = 1) -> Task:
    """Sums of two numbers of four digits."""
    return _task("addition", items, shots, digits, seed, epochs)


def _task(operation: str, items: int, shots: int, digits: int, seed: int, epochs: int) -> Task:
    made = arithmetic(operation, items=items, digits=digits, shots=shots, seed=seed)
    samples = [
        Sample(
            id=problem.item_id,
            input=problem.question,
            target=problem.target,
            metadata={"turns": [[turn.role, turn.content] for turn in chat_turns(problem)]},
        )
        for problem in made.problems
    ]
    return Task(
        dataset=MemoryDataset(samples, name=made.name),
        solver=[with_examples(), generate()],
        scorer=exact_number(),
        config=GenerateConfig(max_tokens=MAX_TOKENS, temperature=0.0 if epochs == 1 else 1.0),
        epochs=epochs,
        name=made.name,
        metadata={"shots": shots, "problems_seed": seed},
    )
