package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

// A result is what one run of the program did.
type result struct {
	status         int
	stdout, stderr string
}

func runWith(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), args, stdin, &stdout, &stderr)
	return result{status, stdout.String(), told(stderr.String())}
}

var slowRun = regexp.MustCompile(`(?m)^time=\S+ level=WARN msg="profile: slow run" .*\n`)

// told is what the program says on stderr, but for rules that the machine held up: a busy one may.
func told(stderr string) string { return slowRun.ReplaceAllString(stderr, "") }

// twoRules is a file of rules whose counts are easily told: one matches added sizes of 10 or more, the
// other is in another group, and fails where nothing was added.
func twoRules(t *testing.T) string {
	return writeFile(t, "rules.yaml", `
- id: large
  group: size
  description: A large addition
  condition: added_size >= 10 and not user_is_bot
- id: odd
  group: other
  condition: user_is_bot or 100 % added_size == 1
`)
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// tick is a wikiticker line of an edit that adds bytes, at a time of day.
func tick(clock string, added int) string {
	return fmt.Sprintf(`{"time":"2020-01-01T%sZ","channel":"#en.wikipedia","namespace":"Main","page":"P","user":"U","added":%d,"delta":%d}`+"\n", clock, added, added)
}

// someEdits is one in 30 of the embedded stream.
func someEdits() io.Reader { return bytes.NewReader(oneIn(30)) }

func oneIn(every int) (edits []byte) {
	n := 0
	for line := range bytes.Lines(generate()) {
		if n++; n%every == 0 {
			edits = append(edits, line...)
		}
	}
	return edits
}

// profiles decodes what -format json prints.
func profiles(t *testing.T, r result) (reports []jsonReport) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(r.stdout))
	for decoder.More() {
		var report jsonReport
		require.NoError(t, decoder.Decode(&report))
		reports = append(reports, report)
	}
	return reports
}

// profileOf runs the program for the JSON of its one profile.
func profileOf(t *testing.T, stdin string, args ...string) jsonReport {
	t.Helper()
	r := runWith(t, strings.NewReader(stdin), append([]string{"-format", "json", "-in", "-", "-rules", twoRules(t)}, args...)...)
	require.Zero(t, r.status, r.stderr)
	require.Empty(t, r.stderr)
	reports := profiles(t, r)
	require.Len(t, reports, 1)
	return reports[0]
}

func (r jsonReport) rule(id string) jsonRule {
	for _, rule := range r.Rules {
		if rule.ID == id {
			return rule
		}
	}
	return jsonRule{}
}

func TestNoArgumentProfilesTheEmbeddedStream(t *testing.T) {
	r := runWith(t, nil)
	require.Zero(t, r.status)
	require.Empty(t, r.stderr)
	require.Contains(t, r.stdout, "Profile of the last 1 h to 2024-03-01 13:59:59 UTC, in windows of 10 min; most total time first\n")
	require.Regexp(t, `(?m)^rule +group +runs +matches +rate +mean +p50 +p95 +p99 +total +conds$`, r.stdout)
	require.Regexp(t, `(?m)^rude-words +default +3,000 +\d+ +\d\.\d %( +[\d.]+ [nµm]?s){5} +1\.\d\d$`, r.stdout)
	require.Regexp(t, `(?m)^group +actions +overflows +matches +mean time +total time +conditions +missing$`, r.stdout)
	require.Regexp(t, `(?m)^links +3,000 +0 +\d+ .* 0$`, r.stdout)
	require.Regexp(t, `(?m)^edits +6,000 from 2024-03-01 12:00:\d\d to 2024-03-01 13:59:59, in [\d.]+ m?s, [\d,]+ a second$`, r.stdout)
	require.Contains(t, r.stdout, "lines       6,000 read, 0 skipped (no edits), 0 failed to parse\n")
	require.Regexp(t, `(?m)^increments +[\d,]+ units buffered, [\d,]+ flushed, 0 lost, 0 dropped; \d+ left over in fractions of a unit$`, r.stdout)
	for line := range strings.Lines(r.stdout) {
		require.LessOrEqual(t, len([]rune(line)), 120)
	}
}

func TestWholeUnitsThatAreNotConfirmedArePending(t *testing.T) {
	r := runWith(t, strings.NewReader(tick("10:00:00", 1)), "-in", "-", "-rules", twoRules(t), "-backend", "memcached://127.0.0.1:1")
	require.Equal(t, exitFailure, r.status)
	require.Contains(t, r.stderr, "not all increments are confirmed: ")
	require.Regexp(t, `(?m)^increments +[\d,]+ units buffered, 0 flushed, [\d,]+ lost, [\d,]+ dropped, [\d,]+ pending$`, r.stdout)
}

func TestTheSameInputGivesTheSameCounts(t *testing.T) {
	counts := func() (rows [][]string) {
		r := runWith(t, someEdits(), "-in", "-", "-format", "csv", "-window", "2h")
		require.Zero(t, r.status)
		all, err := csv.NewReader(strings.NewReader(r.stdout)).ReadAll()
		require.NoError(t, err)
		require.Equal(t, csvHeader, all[0])
		for _, row := range all[1:] {
			rows = append(rows, []string{row[1], row[2], row[4], row[5], row[6], row[9], row[10], row[11], row[12]})
		}
		return rows
	}
	first := counts()
	require.Len(t, first, 42)
	require.ElementsMatch(t, first, counts())
}

func TestTheSlowestRuleIsFirst(t *testing.T) {
	reports := profiles(t, runWith(t, someEdits(), "-in", "-", "-format", "json"))
	require.Len(t, reports[0].Rules, 40)
	for i, rule := range reports[0].Rules[1:] {
		require.LessOrEqual(t, rule.TotalTimeNS, reports[0].Rules[i].TotalTimeNS)
		require.Positive(t, rule.P50TimeNS)
		require.LessOrEqual(t, rule.P50TimeNS, rule.P95TimeNS)
		require.LessOrEqual(t, rule.P95TimeNS, rule.P99TimeNS)
		require.Less(t, rule.P50TimeNS, 3*rule.MeanTimeNS+200, "%+v", rule) // half of the runs take at most twice the mean
		require.Zero(t, rule.UnknownTimes)
	}
}

func TestProfileCountsRunsMatchesConditionsAndFailures(t *testing.T) {
	got := profileOf(t, tick("10:00:00", 20)+tick("10:01:00", 5)+tick("10:02:00", 0)+tick("10:03:00", 33))

	large := got.rule("large")
	require.Equal(t, "size", large.Group)
	require.Equal(t, "A large addition", large.Description)
	require.EqualValues(t, 4, large.Runs)
	require.EqualValues(t, 2, large.Matches)
	require.InDelta(t, 0.5, large.MatchRate, 1e-9)
	require.InDelta(t, 1, large.MeanConditions, 1e-9)
	require.Zero(t, large.Failures)
	require.GreaterOrEqual(t, large.TotalTimeNS, int64(0))

	odd := got.rule("odd")
	require.EqualValues(t, 4, odd.Runs, "a run that fails is a run")
	require.EqualValues(t, 1, odd.Matches)
	require.Equal(t, 1, odd.Failures)
	require.Equal(t, "condition, line 1, column 20: runtime error: integer divide by zero", odd.FirstFailure)

	require.Len(t, got.Groups, 2)
	require.Equal(t, "size", got.Groups[0].Name)
	require.EqualValues(t, 4, got.Groups[0].Actions)
	require.EqualValues(t, 2, got.Groups[0].Matches)
	require.Equal(t, 4, got.Replay.Edits)
	require.Equal(t, 3, got.Replay.Matches)
	require.Zero(t, got.Replay.Increments.Lost)
	require.Zero(t, got.Replay.Increments.Dropped)
	require.Less(t, got.Replay.Increments.Pending, 7.0, "less than a unit of each time")
}

func TestTheTableShowsWhyARuleFailed(t *testing.T) {
	r := runWith(t, strings.NewReader(tick("10:00:00", 0)), "-in", "-", "-rules", twoRules(t))
	require.Zero(t, r.status)
	require.Contains(t, r.stdout, "failures    odd failed on 1 edit(s); the first: condition, line 1, column 20: runtime error: integer divide by zero\n")
	require.Regexp(t, `(?m)^rule .* conds +failed$`, r.stdout)
	require.Regexp(t, `(?m)^odd +other +1 +0 +0\.0 % .* 1$`, r.stdout)
}

func TestWindow(t *testing.T) {
	stream := tick("00:00:00", 1) + tick("10:00:00", 1) + tick("10:50:00", 1) + tick("11:00:00", 1)
	tests := []struct {
		rule string
		args []string
		runs float64
	}{
		{"an hour is the default", nil, 3},
		{"-window 24h holds a day", []string{"-window", "24h"}, 4},
		{"-window 30m holds less", []string{"-window", "30m"}, 2},
		{"-at leaves out later edits, of the same window too", []string{"-at", "2020-01-01T10:49:59Z"}, 1},
		{"-at holds an edit of that instant", []string{"-at", "2020-01-01T10:50:00Z"}, 2},
		{"-at takes Unix seconds", []string{"-at", "1577875800"}, 2},
		{"-at takes an offset", []string{"-at", "2020-01-01T12:50:00+02:00"}, 2},
		{"-at after all edits looks back from there", []string{"-at", "2020-01-01T11:59:59Z"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			require.EqualValues(t, tt.runs, profileOf(t, stream, tt.args...).rule("large").Runs)
		})
	}
}

func TestAtWithoutAnEditSaysWhereTheEditsAre(t *testing.T) {
	day := tick("12:00:00", 1) + tick("11:00:00", 1) + tick("13:59:59", 1)
	tests := []struct{ rule, input, at, hint string }{
		{"after all edits", day, "2030-01-01T00:00:00Z", "no edit in the 1 h before 2030-01-01T00:00:00Z; the input has 2020-01-01 11:00:00 to 13:59:59"},
		{"before all edits", day, "2019-01-01T00:00:00Z", "no edit in the 1 h before 2019-01-01T00:00:00Z; the input has 2020-01-01 11:00:00 to 13:59:59"},
		{"edits of two days", day + strings.Replace(day, "2020-01-01", "2020-01-02", 1), "2019-01-01T00:00:00Z", "the input has 2020-01-01 11:00:00 to 2020-01-02 12:00:00"},
		{"no edits", "", "2030-01-01T00:00:00Z", "no edit in the 1 h before 2030-01-01T00:00:00Z; the input has no edit"},
		{"among the edits", day, "2020-01-01T12:30:00Z", ""},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			r := runWith(t, strings.NewReader(tt.input), "-in", "-", "-rules", twoRules(t), "-at", tt.at, "-format", "json")
			require.Zero(t, r.status)
			require.Len(t, profiles(t, r), 1, "the profile is printed all the same")
			if tt.hint == "" {
				require.Empty(t, r.stderr)
				return
			}
			require.Regexp(t, "^abusefilter-profiler: .*"+tt.hint+"\n$", r.stderr)
		})
	}
}

func TestAtCountsTheEditsItLeavesOut(t *testing.T) {
	got := profileOf(t, tick("10:00:00", 1)+tick("11:00:00", 1)+tick("10:30:00", 1), "-at", "2020-01-01T10:30:00Z")
	require.Equal(t, 1, got.Replay.Late)
	require.Equal(t, 2, got.Replay.Edits)
	require.Equal(t, time.Date(2020, 1, 1, 10, 30, 0, 0, time.UTC), *got.At)
}

func TestEditsOutOfOrderGoToTheirOwnWindows(t *testing.T) {
	got := profileOf(t, tick("11:00:00", 1)+tick("09:00:00", 1)+tick("10:30:00", 1))
	require.EqualValues(t, 2, got.rule("large").Runs)
	require.Equal(t, time.Date(2020, 1, 1, 11, 0, 0, 0, time.UTC), *got.At)
}

func TestEveryPrintsAProfileAsEditTimePasses(t *testing.T) {
	stream := tick("09:59:59", 1) + tick("10:00:00", 1) + tick("10:59:00", 1) + // 10:00 is after the first
		tick("10:30:00", 1) + // out of order: nothing is due
		tick("20:00:00", 1) + // due since: 11:00, and nothing later has an edit in its window
		tick("20:00:01", 1)
	r := runWith(t, strings.NewReader(stream), "-in", "-", "-every", "1h", "-format", "json", "-rules", twoRules(t))
	require.Zero(t, r.status, r.stderr)
	var got []string
	for _, p := range profiles(t, r) {
		got = append(got, fmt.Sprintf("%s %v %v", p.At.Format("15:04:05"), p.rule("large").Runs, p.Replay != nil))
	}
	require.Equal(t, []string{"10:00:00 1 false", "11:00:00 3 false", "20:00:01 2 true"}, got)
}

func TestEveryPrintsTablesOneAfterTheOther(t *testing.T) {
	r := runWith(t, someEdits(), "-in", "-", "-every", "1h", "-top", "3")
	require.Equal(t, 2, strings.Count(r.stdout, "Profile of the last 1 h to "))
	require.Contains(t, r.stdout, "\n\nProfile of the last 1 h to 2024-03-01 13:59:5")
	require.Equal(t, 2, strings.Count(r.stdout, "… and 37 more\n"))
	require.Equal(t, 1, strings.Count(r.stdout, "\nedits "))
}

func TestEveryPrintsOneHeaderOfCSV(t *testing.T) {
	r := runWith(t, someEdits(), "-in", "-", "-every", "1h", "-top", "3", "-format", "csv")
	require.Equal(t, 1, strings.Count(r.stdout, "at,kind,name"))
	require.Equal(t, 1+2*(3+2), strings.Count(r.stdout, "\n"))
	require.Contains(t, r.stdout, "\n2024-03-01T13:00:00Z,rule,")
	require.Regexp(t, `^edits +200 from .*\nlines .*\nincrements .*\n$`, r.stderr, "the summary has no place in the rows")
}

func TestTopShowsTheSlowest(t *testing.T) {
	tests := []struct {
		rule          string
		top           string
		shown, hidden int
	}{
		{"some", "2", 2, 38},
		{"0 is all", "0", 40, 0},
		{"more than there are is all", "99", 40, 0},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got := profiles(t, runWith(t, strings.NewReader(tick("10:00:00", 1)), "-in", "-", "-format", "json", "-top", tt.top))[0]
			require.Len(t, got.Rules, tt.shown)
			require.Equal(t, tt.hidden, got.Hidden)
		})
	}
}

func TestNoProfileEvaluatesOnly(t *testing.T) {
	r := runWith(t, someEdits(), "-in", "-", "-no-profile")
	require.Zero(t, r.status)
	require.Regexp(t, `^edits +200 .* a second\nlines .*\nmatches +[\d,]+; the rules were not profiled\n$`, r.stdout)

	stream := strings.Repeat(tick("10:00:00", 0)+tick("10:00:00", 33), 20)
	on := profileOf(t, stream)
	off := profileOf(t, stream, "-no-profile")
	require.Equal(t, 40, on.Replay.Matches)
	require.Nil(t, off.At)
	require.Nil(t, off.Replay.Increments)
	require.Equal(t, on.Replay.Matches, off.Replay.Matches)
}

func TestAnInputWithoutAnEditIsAFailure(t *testing.T) {
	at := []string{"-at", "2020-01-01T10:00:00Z"}
	tests := []struct {
		rule, input string
		args        []string
		status      int
		reason      string // the last line of stderr
	}{
		{"text", "some\ntext\n", nil, exitFailure, "edits.txt: none of its 2 lines is an edit"},
		{"bytes", "\x00\xff\x80", nil, exitFailure, "edits.txt: its one line is no edit"},
		{"JSON that is no event", "{}\n[1]\n7\n", nil, exitFailure, "edits.txt: none of its 3 lines is an edit"},
		{"events that are no edits", changeLogAt, nil, exitFailure, "edits.txt: its one line is no edit"},
		{"blank lines", strings.Repeat("\n", 1000), nil, exitFailure, "edits.txt: none of its 1,000 lines is an edit"},
		{"text, with -at", "text\n", at, exitFailure, "edits.txt: its one line is no edit"},
		{"text, with -no-profile", "text\n", []string{"-no-profile"}, exitFailure, "edits.txt: its one line is no edit"},
		{"nothing", "", nil, exitFailure, "edits.txt is empty"},
		{"nothing, with -at, shows what others stored", "", at, 0, ""},
		{"one edit among others", "text\n" + tick("10:00:00", 1), nil, 0, ""},
		{"an edit after -at is one", tick("10:00:01", 1), at, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("edits.txt", []byte(tt.input), 0o600))
			r := runWith(t, nil, append([]string{"-in", "edits.txt"}, tt.args...)...)
			require.Equal(t, tt.status, r.status)
			require.Regexp(t, `(?m)^edits +\d`, r.stdout, "what was counted is still said")
			if tt.reason == "" {
				require.NotContains(t, r.stderr, "edits.txt")
				return
			}
			require.True(t, strings.HasSuffix("\n"+r.stderr, "\nabusefilter-profiler: "+tt.reason+"\n"), r.stderr)
		})
	}
	r := runWith(t, strings.NewReader(""), "-in", "-")
	require.Equal(t, "abusefilter-profiler: standard input is empty\n", r.stderr)
	require.Regexp(t, `^edits +0 in .*, 0 a second\nlines +0 read`, r.stdout)
}

func TestTinyWindowsDropPartsOfUnitsAlone(t *testing.T) {
	lines := bytes.SplitAfter(generate(), []byte("\n"))[:2400]
	r := runWith(t, bytes.NewReader(bytes.Join(lines, nil)), "-in", "-", "-window", "6s", "-format", "json")
	require.Zero(t, r.status, r.stderr)
	increments := profiles(t, r)[0].Replay.Increments
	require.Less(t, increments.Dropped, increments.Buffered/1000, "parts of units only")
}

func TestInputs(t *testing.T) {
	lines := tick("10:00:00", 1) + changeLogAt + "data: " + changeAt + "\nevent: message\nid: [1]\n:ok\n\n" + tick("10:20:00", 1)
	tests := []struct {
		rule  string
		path  string
		stdin []byte
	}{
		{"a file", writeFile(t, "edits.jsonl", lines), nil},
		{"a gzipped file, whatever its name", writeFile(t, "edits", string(zip(lines))), nil},
		{"standard input", "-", []byte(lines)},
		{"gzip on standard input", "-", zip(lines)},
		{"gzip in members", "-", append(zip(lines[:100]), zip(lines[100:])...)},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			r := runWith(t, iotest.OneByteReader(bytes.NewReader(tt.stdin)), "-in", tt.path, "-format", "json")
			require.Zero(t, r.status, r.stderr)
			require.Empty(t, r.stderr)
			got := profiles(t, r)[0].Replay
			require.Equal(t, 3, got.Edits)
			require.Equal(t, 1, got.Skipped)
			require.Equal(t, 8, got.Lines)
			require.Equal(t, 4, got.Blank)
			require.Zero(t, got.Failed)
		})
	}
}

const (
	changeAt    = `{"type":"edit","namespace":0,"title":"T","comment":"","timestamp":1577873400,"user":"U","bot":false,"minor":false,"length":{"old":1,"new":2},"wiki":"enwiki"}`
	changeLogAt = `{"type":"log","namespace":0,"title":"T","comment":"","timestamp":1577873400,"user":"U","bot":false,"wiki":"enwiki"}` + "\n"
)

func zip(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.Bytes()
}

func TestLinesThatDoNotParseAreCountedAndTheFirstFiveReported(t *testing.T) {
	stream := tick("10:00:00", 1) + "x\n" + strings.Repeat("y", maxLine+2) + "\n{}\n" + strings.Repeat("z\n", 10) + tick("10:00:01", 1)
	r := runWith(t, strings.NewReader(stream), "-in", "-", "-format", "json")
	require.Zero(t, r.status)
	require.Equal(t, 13, profiles(t, r)[0].Replay.Failed)
	require.Equal(t, 2, profiles(t, r)[0].Replay.Edits)
	require.Equal(t, "abusefilter-profiler: line 2: invalid character 'x' looking for beginning of value\n"+
		"abusefilter-profiler: line 3: the line is longer than 1 MiB\n"+
		"abusefilter-profiler: line 4: "+errNotEvent.Error()+"\n"+
		"abusefilter-profiler: line 5: invalid character 'z' looking for beginning of value\n"+
		"abusefilter-profiler: line 6: invalid character 'z' looking for beginning of value\n", r.stderr)
}

func TestStrictStopsAtTheFirstLineThatDoesNotParse(t *testing.T) {
	stream := tick("10:00:00", 1) + ":ok\nx\ny\n"
	r := runWith(t, strings.NewReader(stream), "-in", "-", "-strict")
	require.Equal(t, exitFailure, r.status)
	require.Empty(t, r.stdout)
	require.Equal(t, "abusefilter-profiler: line 3: invalid character 'x' looking for beginning of value\n", r.stderr)

	r = runWith(t, strings.NewReader(tick("10:00:00", 1)+changeLogAt), "-in", "-", "-strict")
	require.Zero(t, r.status, "an event that is no edit parses")
}

func TestAnInputThatEndsInAFailureIsProfiledUpToThere(t *testing.T) {
	whole := zip(string(generate()))
	cut := writeFile(t, "cut.gz", string(whole[:len(whole)/2]))
	r := runWith(t, nil, "-in", cut, "-format", "json", "-rules", twoRules(t))
	require.Equal(t, exitFailure, r.status)
	got := profiles(t, r)[0].Replay
	require.Greater(t, got.Edits, 1000)
	require.Less(t, got.Edits, 6000)
	require.Zero(t, got.Failed, "the line that was cut off is not one that does not parse")
	require.Equal(t, fmt.Sprintf("abusefilter-profiler: read %s, after line %d: the gzip data ends too early\n", cut, got.Lines), r.stderr)

	r = runWith(t, io.MultiReader(strings.NewReader(tick("10:00:00", 1)), iotest.ErrReader(io.ErrClosedPipe)), "-in", "-", "-format", "json")
	require.Equal(t, exitFailure, r.status)
	require.Equal(t, 1, profiles(t, r)[0].Replay.Edits)
	require.Equal(t, "abusefilter-profiler: read standard input, after line 1: io: read/write on closed pipe\n", r.stderr)
}

func TestFailuresAreOneClearLine(t *testing.T) {
	dir := t.TempDir()
	bad := writeFile(t, "bad.yaml", "- {id: fine, condition: user_is_bot}\n- {id: wrong, condition: user_is_bott}\n")
	tests := []struct {
		rule   string
		args   []string
		status int
		reason string
	}{
		{"a missing input", []string{"-in", dir + "/none"}, exitFailure, "open " + dir + "/none: no such file or directory"},
		{"a directory", []string{"-in", dir}, exitFailure, "read " + dir + ": is a directory"},
		{"a gzip header that is none", []string{"-in", writeFile(t, "x.gz", "\x1f\x8b\x00nothing at all")}, exitFailure, "gzip: invalid header"},
		{"missing rules", []string{"-rules", dir + "/none"}, exitFailure, "rules: open " + dir + "/none: no such file or directory"},
		{"a rule that does not compile", []string{"-rules", bad}, exitFailure, `rule "wrong": condition, line 1, column 1: unknown name user_is_bott`},
		{"a rule that does not compile comes before a missing input", []string{"-rules", bad, "-in", dir + "/none"}, exitFailure, `unknown name user_is_bott`},
		{"an unknown backend", []string{"-backend", "carrier-pigeon://x"}, exitFailure, "carrier-pigeon"},
		{"a keyspace that is refused", []string{"-keyspace", "global"}, exitFailure, "Keyspace"},
		{"an unknown flag", []string{"-what"}, exitUsage, "flag provided but not defined: -what"},
		{"a flag of no value", []string{"-in"}, exitUsage, "flag needs an argument: -in"},
		{"an argument", []string{"edits.jsonl"}, exitUsage, `unexpected argument "edits.jsonl"`},
		{"a window that is none", []string{"-window", "soon"}, exitUsage, `invalid value "soon" for flag -window`},
		{"a window of 0", []string{"-window", "0"}, exitUsage, "-window 0s: it must be 6ms or more"},
		{"a negative window", []string{"-window", "-1h"}, exitUsage, "-window -1h0m0s: it must be 6ms or more"},
		{"a negative every", []string{"-every", "-1h"}, exitUsage, "-every -1h0m0s: it must not be negative"},
		{"a negative top", []string{"-top", "-1"}, exitUsage, "-top -1: it must not be negative"},
		{"an unknown format", []string{"-format", "xml"}, exitUsage, "-format xml: it must be one of table, json, csv"},
		{"a time of another form", []string{"-at", "noon"}, exitUsage, `invalid value "noon" for flag -at: it is neither RFC 3339`},
		{"a time that no edit has", []string{"-at", "1"}, exitUsage, "the time 1970-01-01T00:00:01Z is not in the years 2001 to 2099"},
		{"-no-profile with -every", []string{"-no-profile", "-every", "1h"}, exitUsage, "-no-profile makes no profile"},
		{"-no-profile with -serve", []string{"-no-profile", "-serve", "127.0.0.1:0"}, exitUsage, "-no-profile makes no profile for -serve"},
		{"a negative speed", []string{"-speed", "-1"}, exitUsage, "-speed -1: it must be 0, or from 0.001 to 1e+09"},
		{"a speed that is no number", []string{"-speed", "NaN"}, exitUsage, "-speed NaN: it must be 0, or"},
		{"an address that can't be served at", []string{"-serve", "192.0.2.1:0"}, exitFailure, "-serve: listen tcp 192.0.2.1:0: "},
		{"an address that is none", []string{"-serve", "nonsense"}, exitFailure, "-serve: listen tcp: address nonsense: missing port in address"},
		{"-no-profile with -at", []string{"-no-profile", "-at", "1700000000"}, exitUsage, "-no-profile makes no profile"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			r := runWith(t, strings.NewReader(""), tt.args...)
			require.Equal(t, tt.status, r.status)
			require.Empty(t, r.stdout)
			require.Contains(t, r.stderr, tt.reason)
			require.Equal(t, 1, strings.Count(r.stderr, "\n"))
			require.True(t, strings.HasPrefix(r.stderr, "abusefilter-profiler: "))
		})
	}
}

func TestHelpListsTheFlags(t *testing.T) {
	r := runWith(t, nil, "-h")
	require.Zero(t, r.status)
	require.Empty(t, r.stderr)
	for _, name := range []string{"in", "rules", "backend", "prefix", "keyspace", "format", "window", "every", "at", "top", "strict", "no-profile", "serve", "speed"} {
		require.Contains(t, r.stdout, "\n  -"+name)
	}
}

func TestEachLineIsCountedAsOneThing(t *testing.T) {
	lines := tick("10:00:00", 1) + "\n:ok\nx\n" + changeLogAt + tick("12:00:00", 1) + tick("10:00:01", 1)
	r := runWith(t, strings.NewReader(lines), "-in", "-", "-at", "2020-01-01T10:30:00Z")
	require.Zero(t, r.status)
	require.Contains(t, r.stdout, "edits       2 from ")
	require.Contains(t, r.stdout, "lines       7 read, 1 skipped (no edits), 1 failed to parse, 2 without an event, 1 later than -at\n")

	gzipped := zip(strings.Repeat(tick("10:00:00", 1), 1000))
	r = runWith(t, bytes.NewReader(gzipped[:len(gzipped)-12]), "-in", "-", "-format", "json")
	require.Equal(t, exitFailure, r.status)
	got := profiles(t, r)[0].Replay
	require.Equal(t, got.Lines, got.Edits, "a line that was cut off is not counted")
	require.Contains(t, r.stderr, fmt.Sprintf(", after line %d: the gzip data ends too early\n", got.Lines))
}

func TestOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	for _, format := range formats {
		var stderr bytes.Buffer
		status := run(t.Context(), []string{"-in", "-", "-format", format}, strings.NewReader(tick("10:00:00", 1)), failingWriter{}, &stderr)
		require.Equal(t, exitFailure, status)
		require.Contains(t, stderr.String(), io.ErrClosedPipe.Error())
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
