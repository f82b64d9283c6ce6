#!/usr/bin/env bash
# OpenVINO 2026.4.1: `import openvino` writes into the home directory and sends a message to its makers.
#
# Expected: importing a library that runs models computes nothing, writes nothing and contacts no other machine.
# What its documentation calls telemetry belongs to the conversion of models (`convert_model`, the command `ovc`).
# Seen: the import alone makes ~/intel with a number for the user (openvino_ga_cid) and a counter, and
# sends the event "import" to Google Analytics in a thread, without asking. It is switched off by a file in the home
# directory (`opt_in_out --opt_out`) or by CI=true in the environment, so a program cannot switch it off itself.
# What to do: keep the module openvino_telemetry from being imported; a stub then takes its place. d2c does this.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "openvino==2026.4.1" "openvino-telemetry==2025.2.0" "numpy==2.4.6" 2>/dev/null
made() { # home, code
    mkdir "$place/$1"
    env -i HOME="$place/$1" "$place/env/bin/python" -c "$2"
    (cd "$place/$1" && find . -type f | sort | paste -sd ' ')
}
imported=$(made imported 'import openvino')
without=$(made without 'import sys; sys.modules["openvino_telemetry"] = None; import openvino')
echo "imported: ${imported:-nothing}; without openvino_telemetry: ${without:-nothing}"
[ "$imported" = "./intel/openvino_ga_cid ./intel/stats" ] && [ -z "$without" ]
