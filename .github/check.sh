#!/usr/bin/env bash
# The step of action.yml: decides, annotates, adds the report to the job's summary, ends with gateproof's exit code.
set -u -o noglob
# Globs are gateproof's own, so the shell must not expand them. Lines count as spaces do.
read -r -d '' -a files <<<"${GATEPROOF_FILES:-}"
out=${GATEPROOF_OUT:-gateproof-report}
gateproof report ${files[@]+"${files[@]}"} --out "$out" --annotate github
code=$?
[[ ! -f $out/report.md ]] || cat "$out/report.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
echo "exit-code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
