package faults_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	all "github.com/wrstats/go-wrstats/backends"
	"github.com/wrstats/go-wrstats/wrstats"
)

// processEnv makes a process of this test binary one that counts. It holds an order.
const processEnv = "WRSTATS_FAULTS_PROCESS"

// An order is what a process is to do.
type order struct {
	URL      string
	Prefix   string
	Rounds   int           // then it closes; 0: it goes on until it is killed
	Interval time.Duration // of flushes
}

// A report is what a process says of itself each millisecond, before it adds.
type report struct {
	At      int64 // Unix nanoseconds
	Added   int64
	Flushed int64
}

// process is the main function of such a process.
func process() int {
	var o order
	if err := json.Unmarshal([]byte(os.Getenv(processEnv)), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (o *order) run() error {
	ctx := context.Background()
	store, err := all.Open(ctx, o.URL)
	if err != nil {
		return err
	}
	stats, err := wrstats.New(store, wrstats.Config{Prefix: o.Prefix, Metrics: counted})
	if err != nil {
		return err
	}
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: o.Interval})
	reports := json.NewEncoder(os.Stdout)
	for round := 0; o.Rounds == 0 || round < o.Rounds; round++ {
		if err := reports.Encode(report{time.Now().UnixNano(), int64(round+1) * counters, int64(w.Stats().Flushed)}); err != nil {
			return err
		}
		for i := range counters {
			if err := w.Add("count", entity(i), 1); err != nil {
				return err
			}
		}
		time.Sleep(time.Millisecond)
	}
	if err := w.Close(ctx); err != nil {
		return err
	}
	return store.Close()
}

// begin starts a process. What it reports comes from the reader.
func (o order) begin(t testing.TB) (*exec.Cmd, io.Reader) {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), processEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, out
}

// TestKilledProcesses measures what is lost with a process that is killed between two flushes: what it had
// added since the last one.
func TestKilledProcesses(t *testing.T) {
	skipShort(t)
	t.Parallel()
	const interval = 100 * time.Millisecond
	for _, b := range backends {
		t.Run("a process is killed between flushes/"+b.name, func(t *testing.T) {
			t.Parallel()
			s := b.start(t, 1)
			file := row{scenario: fmt.Sprintf("a process is killed between flushes, one each %v", interval), backend: b.name}
			var most time.Duration
			for range choose(3, 20) {
				l := newLoad(t, s)
				reports := killed(t, order{URL: s.url(), Prefix: l.prefix, Interval: interval})
				last := reports[len(reports)-1]
				stored := int64(sumOf(l.records()))
				require.GreaterOrEqual(t, stored, last.Flushed, "what was confirmed")
				require.LessOrEqual(t, stored, last.Added)
				file.added, file.stored, file.lost = file.added+float64(last.Added), file.stored+float64(stored), file.lost+float64(last.Added-stored)
				for _, r := range reports {
					if r.Added >= stored {
						most = max(most, time.Duration(last.At-r.At))
						break
					}
				}
			}
			file.verdict = fmt.Sprintf("held: %v of counts lost at most", most.Round(time.Millisecond))
			results.add(file)
		})
	}
}

// killed starts a process, kills it in the midst of its work, and returns what it has reported.
func killed(t testing.TB, o order) (reports []report) {
	t.Helper()
	cmd, out := o.begin(t)
	lines := bufio.NewScanner(out)
	since := 0 // the first flush
	enough := 200 + rand.N(100)
	for lines.Scan() {
		var r report
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			break // cut off
		}
		if reports = append(reports, r); r.Flushed > 0 {
			since++
		}
		if since == enough {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	require.Error(t, cmd.Wait(), "it was killed")
	require.GreaterOrEqual(t, since, enough)
	return reports
}

func TestManyProcesses(t *testing.T) {
	skipShort(t)
	t.Parallel()
	const processes = 4
	rounds := choose(300, 10_000)
	for _, b := range backends {
		t.Run("4 processes on one server/"+b.name, func(t *testing.T) {
			t.Parallel()
			s := b.start(t, 1)
			l := newLoad(t, s)
			var cmds []*exec.Cmd
			for range processes {
				cmd, out := order{URL: s.url(), Prefix: l.prefix, Interval: 50 * time.Millisecond, Rounds: rounds}.begin(t)
				go io.Copy(io.Discard, out)
				cmds = append(cmds, cmd)
			}
			for _, cmd := range cmds {
				state, err := cmd.Process.Wait()
				require.NoError(t, err)
				require.True(t, state.Success(), "%v", state)
			}
			records := l.records()
			require.Len(t, records, counters)
			for _, rec := range records {
				require.EqualValues(t, processes*rounds, rec.n)
			}
			results.add(row{scenario: "4 processes on one server", backend: b.name, added: processes * counters * float64(rounds), stored: sumOf(records), verdict: "held"})
		})
	}
}

// url is what [all.Open] takes. Servers are given all the time they want.
func (s *site) url() string {
	switch s.kind {
	case redises:
		return "redis://" + s.addrs()[0] + "/?read_timeout=60s"
	case redisCluster:
		return "redis+cluster://" + s.addrs()[0] + "/?read_timeout=60s"
	}
	return "memcached://" + s.entrances()[0] + "/?timeout=60s&protocol=" + []string{"auto", "text", "meta"}[s.protocol]
}
