package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/servertest"
)

// generous is for servers of a busy machine.
const generous = "30s"

// A site is the servers that processes share.
type site struct {
	url     string // but for the timeout
	servers []*servertest.Server
}

func memcachedSite(n int, query string) func(t *testing.T) site {
	return func(t *testing.T) (s site) {
		for range n {
			s.servers = append(s.servers, servertest.Memcached(t))
		}
		s.url = "memcached://" + addrs(s.servers) + "?" + query + "timeout="
		return s
	}
}

func redisSite(t *testing.T) site {
	s := servertest.Redis(t)
	return site{"redis://" + s.Addr + "?read_timeout=", []*servertest.Server{s}}
}

func redisClusterSite(t *testing.T) site {
	servers := servertest.RedisCluster(t, 3)
	return site{"redis+cluster://" + servers[0].Addr + "?read_timeout=", servers}
}

func addrs(servers []*servertest.Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Addr)
	}
	return strings.Join(all, ",")
}

// A truth is what the rules do on a stream, told without counters.
type truth struct {
	at     time.Time // of the newest edit
	rules  map[string]counted
	groups map[string]counted
}

// counted is of a rule, or of a group.
type counted struct{ runs, matches, conditions float64 }

func (c *counted) add(matched bool, conditions int) {
	c.runs++
	if matched {
		c.matches++
	}
	c.conditions += float64(conditions)
}

func newTruth(t *testing.T, stream []byte) truth {
	t.Helper()
	set, err := loadRules("")
	require.NoError(t, err)
	whole := truth{rules: make(map[string]counted), groups: make(map[string]counted)}
	for line := range bytes.Lines(stream) {
		var edit Edit
		_, err := decodeLine(line, &edit)
		require.NoError(t, err)
		whole.at = edit.at
		for _, g := range set.groups {
			whole.add(set, g, &edit)
		}
	}
	return whole
}

func (w *truth) add(set *ruleSet, g *group, edit *Edit) {
	matched, sum := false, 0
	for _, r := range g.rules {
		m, conditions := set.evaluate(r, edit)
		matched, sum = matched || m, sum+conditions
		of := w.rules[r.ID]
		of.add(m, conditions)
		w.rules[r.ID] = of
	}
	of := w.groups[g.name]
	of.add(matched, sum)
	w.groups[g.name] = of
}

// halve cuts lines in two.
func halve(lines []byte) [2][]byte {
	half := bytes.IndexByte(lines[len(lines)/2:], '\n') + len(lines)/2 + 1
	return [2][]byte{lines[:half], lines[half:]}
}

func arguments(url string) []string {
	return []string{"-in", "-", "-window", "4h", "-backend", url, "-format", "json"}
}

func TestTwoProcessesOnHalvesOfAStreamGiveTheSumOfBoth(t *testing.T) {
	t.Parallel()
	stream := oneIn(20)
	whole := newTruth(t, stream)
	for name, serve := range map[string]func(*testing.T) site{
		"memcached":     memcachedSite(1, ""),
		"memcached/3":   memcachedSite(3, ""),
		"redis":         redisSite,
		"redis/cluster": redisClusterSite,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := arguments(serve(t).url + generous)
			var both []*process
			for _, half := range halve(stream) {
				both = append(both, start(t, bytes.NewReader(half), args...))
			}
			for _, p := range both {
				r := p.wait(t)
				require.Zero(t, r.status, r.stderr)
				require.Empty(t, r.stderr)
				require.Zero(t, profiles(t, r)[0].Replay.Increments.Lost)
			}
			sum := profiles(t, runWith(t, bytes.NewReader(nil), append(args, "-at", whole.at.Format(time.RFC3339Nano))...))[0]
			whole.requireEqual(t, sum)
		})
	}
}

func (w *truth) requireEqual(t *testing.T, sum jsonReport) {
	t.Helper()
	require.Len(t, sum.Rules, len(w.rules))
	for _, got := range sum.Rules {
		want := w.rules[got.ID]
		require.Equal(t, want.runs, got.Runs, got.ID)
		require.Equal(t, want.matches, got.Matches, got.ID)
		require.InDelta(t, want.conditions/want.runs, got.MeanConditions, 1e-9, got.ID)
		require.Zero(t, got.Missing, got.ID)
	}
	require.Len(t, sum.Groups, len(w.groups))
	for _, got := range sum.Groups {
		want := w.groups[got.Name]
		require.Equal(t, want.runs, got.Actions, got.Name)
		require.Equal(t, want.matches, got.Matches, got.Name)
		require.InDelta(t, want.conditions/want.runs, got.MeanConditions, 1e-9, got.Name)
		require.Zero(t, got.Missing, got.Name)
	}
}

// One of the servers is stopped while two processes count, and goes on before they end.
func TestTwoProcessesTellWhatAStoppedServerLost(t *testing.T) {
	t.Parallel()
	const (
		impatient = "500ms" // of the processes: a stopped server takes longer
		stop      = 5 * time.Second
	)
	stream := oneIn(20)
	whole := newTruth(t, stream)
	for name, serve := range map[string]func(*testing.T) site{
		"memcached text": memcachedSite(3, "protocol=text&"),
		"memcached meta": memcachedSite(3, "protocol=meta&"),
		"redis":          redisSite,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			stored := newStorage(t, s)
			halves := halve(stream)
			var both []*process
			for _, half := range halves {
				p := start(t, nil, arguments(s.url+impatient)...)
				p.write(t, halve(half)[0])
				both = append(both, p)
			}
			stored.awaitBoth(whole.at)
			s.servers[0].Stop()
			for i, p := range both {
				p.write(t, halve(halves[i])[1])
			}
			time.Sleep(stop)
			s.servers[0].Continue()
			var all jsonIncrements
			for _, p := range both {
				require.NoError(t, p.feed.Close())
				all.add(requireTold(t, p.wait(t)))
			}
			require.Positive(t, all.Lost, "it was stopped for several flushes")
			stored.requireWithin(&whole, all)
		})
	}
}

// requireTold requires of what a process says that it adds up, and that what is lost is not passed over.
func requireTold(t *testing.T, r result) jsonIncrements {
	t.Helper()
	require.Len(t, profiles(t, r), 1, r.stderr)
	told := *profiles(t, r)[0].Replay.Increments
	require.Positive(t, told.Buffered)
	require.InDelta(t, told.Buffered, told.Flushed+told.Lost+told.Dropped+told.Pending, fraction, "%+v", told)
	if told.Lost > 0 {
		require.Equal(t, exitFailure, r.status, r.stderr)
		require.Regexp(t, `(?m)^(abusefilter-profiler: )?[\d,]+ units of the increments are lost$`, r.stderr)
	}
	return told
}

// fraction is less than a unit, and more than sums of floats are off.
const fraction = 0.01

func (i *jsonIncrements) add(o jsonIncrements) {
	i.Buffered += o.Buffered
	i.Flushed += o.Flushed
	i.Lost += o.Lost
	i.Dropped += o.Dropped
	i.Pending += o.Pending
}

// missing is the most units that may not be stored.
func (i *jsonIncrements) missing() float64 { return i.Lost + i.Dropped + i.Pending + fraction }

// requireWithin requires that what is stored is no more than what was counted, and with what is told to be
// missing no less.
func (s *storage) requireWithin(whole *truth, told jsonIncrements) {
	t := s.t
	t.Helper()
	units := float64(s.units())
	t.Logf("%.0f units stored of %+v", units, told)
	require.LessOrEqual(t, units, told.Buffered)
	require.GreaterOrEqual(t, units, told.Flushed, "what was confirmed")
	require.GreaterOrEqual(t, units+told.missing(), told.Buffered)
	profile := s.profile(whole.at)
	missing := 0.0
	compare := func(name string, want, got counted) {
		require.LessOrEqual(t, got.runs, want.runs, name)
		require.LessOrEqual(t, got.matches, want.matches, name)
		require.LessOrEqual(t, got.conditions, want.conditions, name)
		missing += want.runs - got.runs + want.matches - got.matches + want.conditions - got.conditions
	}
	for _, r := range profile.Rules {
		compare(r.Name, whole.rules[r.Name], counted{r.Runs, r.Matches, r.Conditions})
	}
	for _, g := range profile.Groups {
		compare(g.Name, whole.groups[g.Name], counted{g.Actions, g.Matches, g.Conditions})
	}
	t.Logf("%.0f of runs, actions, matches and conditions are missing", missing)
	require.LessOrEqual(t, missing, told.missing())
}
