// Command abusefilter-profiler replays edits of wikis, evaluates rules on each of them, profiles every
// rule, and prints the profile: what AbuseFilter's profiler does for a wiki's filters.
//
//	go run ./examples/abusefilter-profiler
//	go run ./examples/abusefilter-profiler -in edits.jsonl.gz -window 24h -rules my-rules.yaml
//	go run ./examples/abusefilter-profiler -serve 127.0.0.1:8080
//	curl -sN https://stream.wikimedia.org/v2/stream/recentchange | go run ./examples/abusefilter-profiler -in - -every 1m
//
// With no argument it replays two hours of made-up edits, the same each time, against the rules of
// rules.yaml. The windows of the profile follow the edits' own time, so a day replays in seconds and
// gives the same counts each time; what varies is the time that was measured.
//
// # Input
//
// JSON lines, gzipped or not, each either an edit of the "wikiticker" data set or an event of
// Wikimedia's recentchange stream, bare or as a "data:" line of the event stream. Events that are no
// edits are skipped and counted. A line that does not parse is counted, the first five are reported,
// and the replay goes on unless -strict is given. Gzip data may have zero bytes after it; that something
// else follows is reported as a failure of the input, after all lines in it were replayed.
//
// # Rules
//
// A JSON or YAML list of id, group, description and condition. A condition is an expression in
// https://expr-lang.org that is true or false; it sees the fields of [Edit] and the functions listed
// at functions. Conditions are counted as AbuseFilter counts them: each comparison, match and call
// that was evaluated.
//
// # Output
//
// A table; or with -format json one object a line, as [jsonReport] describes; or with -format csv a
// row for each rule and group, and the last lines of the table on standard error. Runs, matches and
// times are those of the window; lines, edits and failures are those of the whole replay. Increments are
// counted in the units of the counters, microseconds for a time; parts of a unit that a time left over
// stay pending, or are dropped with their window.
//
// # Pages
//
// With -serve the profile is shown live, as pages that refresh themselves, while edit time passes -speed times as fast
// as time does, a minute a second if nothing is said. At its end the replay prints as ever, and the pages stay until an
// interrupt.
//
// # Exit status
//
// 0: done, also when an interrupt ended the replay early. 1: the rules, the input, a line (with
// -strict) or the backend failed, increments were lost, or no line of the input is an edit. 2: wrong
// arguments.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const (
	program = "abusefilter-profiler"

	exitFailure = 1
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program: it returns the exit status. When ctx ends, it stops reading and prints what it has.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		complain(stderr, err)
		return exitUsage
	}
	if err := profileEdits(ctx, opts, stdin, stdout, stderr); err != nil {
		complain(stderr, err)
		return exitFailure
	}
	return 0
}

func complain(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "%s: %v\n", program, err)
}
