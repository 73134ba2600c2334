#!/usr/bin/env bash
# Installs what the tests need and is missing (Debian's packages, as root or with sudo), and runs them all.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v go >/dev/null || { echo "scripts/test.sh: Go 1.25 or newer is needed: https://go.dev/dl" >&2; exit 1; }
PATH=$PATH:/usr/sbin:/usr/local/sbin # where distributions put daemons

missing=()
for need in memcached:memcached nutcracker:nutcracker redis-server:redis-server redis-cli:redis-tools chromium:chromium gcc:gcc; do
	[ -n "$(command -v "${need%%:*}")" ] || missing+=("${need##*:}")
done
if [[ " ${missing[*]} " = *" gcc "* ]]; then
	missing+=(libc6-dev) # for the race detector
fi
if [ ${#missing[@]} -gt 0 ]; then
	sudo=$([ "$(id -u)" = 0 ] || command -v sudo || true)
	if ! command -v apt-get >/dev/null || { [ -z "$sudo" ] && [ "$(id -u)" != 0 ]; }; then
		echo "scripts/test.sh: please install: ${missing[*]}" >&2
		exit 1
	fi
	echo "installing ${missing[*]}"
	$sudo apt-get update -q
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"
fi

export WRSTATS_REQUIRE_SERVERS=1 CGO_ENABLED=1
exec go test -race "$@" ./...
