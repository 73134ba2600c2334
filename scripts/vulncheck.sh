#!/usr/bin/env bash
# Looks for known vulnerabilities in what the module calls, by the Go team's database. The database comes from the
# module proxy, as all else does. Go itself is taken at a release without known faults that are called here: which
# release users build with is theirs to choose.
set -euo pipefail
cd "$(dirname "$0")/.."

go=go1.26.10
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0
database=golang.org/x/vulndb@latest

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
GOBIN=$dir go install "$govulncheck"
reports=$(cd "$dir" && go mod download -json "$database" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
GOTOOLCHAIN=$go "$dir/govulncheck" -db "file://$reports/data/osv" ./...
