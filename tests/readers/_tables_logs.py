"""Small valid tables of scores in every shape that is read."""

from __future__ import annotations

from pathlib import Path

TABLES = {
    "long.csv": "model,size,task,score,n\np-70m,70M,t1,.25,200\np-1b,1B,t1,.5,200\n",
    "wide.csv": "Model,Model Size (B),MMLU,ARC-C,elo\na,7.0,40%,50%,1012\nb,13.0,50%,,1100\n",
    "semicolons.csv": "model;task;accuracy;date\na;t;0,25;1.5.2024\nb;t;0,5;23.5.2024\n",
    "tabs.tsv": "\ufeffmodel\ttask\tmetric\tscore\tstderr\na\tt\tacc\t.25\t.0125\na\tt\tperplexity\t31.5\t.4\n",
    "errors.csv": "model,task,acc ± SE\na,t,0.25 ± 0.01\nb,t,0.5 ± 0.02\n",
    "arc_agi.csv": (
        "AI System,Author,System type,ARC-AGI-1,ARC-AGI-2,Cost/Task\n"
        "o3 (High),OpenAI,CoT,60.8%,6.5%,$0.83\nHuman,N/A,N/A,98.0%,100.0%,$17.00\nold,Lab,Base LLM,4.5%,N/A,$0.01\n"
    ),
    "hle.csv": "Model,Accuracy (%) ± CI,Calibration Error\na,25.32 ± 1.70,50\nb,9.10 ± 1.13,88\n",
    "external_benchmark_t.csv": (
        "id,Name,EM,Model version,Shots,Source,Source link\n"
        "rec1,A,63.3%,a-1,5,Report,http://x\nrec2,B,50.1%,,8-shot,Board,http://y\nrec3,,40.0%,,5,Board,http://y\n"
    ),
    "benchmarks_runs.csv": (
        "id,task,model,Best score (across scorers),Scores,started_at,Status,task version\n"
        'x1,GPQA,m_low,0.760,"choice:0.74±0.03,match:0.76±0.02",17 November 2025 4:28pm,Success,1.0.1\n'
    ),
}


def write_small(folder: Path) -> list[Path]:
    """Write a specimen of every shape."""
    paths = []
    for name, text in TABLES.items():
        path = folder / name
        path.write_text(text, "utf-8")
        paths.append(path)
    return paths
