package limiter_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// What the processes of TestProcessesOvershootALittle do.
const (
	hammerEnv        = "WRSTATS_TEST_HAMMER" // the URL of the backend
	hammerProcesses  = 2
	hammerGoroutines = 16
	hammerLimit      = 2000
)

func TestMain(m *testing.M) {
	if url := os.Getenv(hammerEnv); url != "" {
		os.Exit(hammer(url))
	}
	os.Exit(m.Run())
}

// hammer is one of the processes: it asks until it is denied, by many goroutines, and prints how often it was
// allowed.
func hammer(url string) (status int) {
	ctx := context.Background()
	store, err := backends.Open(ctx, url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer store.Close()
	l, err := limiter.New(store, []limiter.Condition{{Name: "a", Limit: hammerLimit, Window: time.Hour}}, limiter.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("ready")
	fmt.Scanln() // until the others are
	var all sync.WaitGroup
	var allowed, failed atomic.Int64
	for range hammerGoroutines {
		all.Go(func() {
			for {
				ok, err := l.Allow(ctx, "a", user1)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					failed.Add(1)
				}
				if !ok {
					return
				}
				allowed.Add(1)
			}
		})
	}
	all.Wait()
	fmt.Println(allowed.Load())
	return int(min(1, failed.Load()))
}

// Processes do not see what another counts in the round that it is at: by one amount for each of its
// goroutines a limit may be overshot.
func TestProcessesOvershootALittle(t *testing.T) {
	for name, url := range map[string]string{
		"memcached": "memcached://" + servertest.Memcached(t).Addr + "?timeout=30s", // the machine may be busy
		"redis":     "redis://" + servertest.Redis(t).Addr + "?read_timeout=30s",
	} {
		t.Run(name, func(t *testing.T) {
			var processes []*process
			for range hammerProcesses {
				processes = append(processes, start(t, url))
			}
			for _, p := range processes {
				require.Equal(t, "ready", p.line(t))
			}
			for _, p := range processes {
				p.begin(t)
			}
			sum := 0
			for _, p := range processes {
				n, err := strconv.Atoi(p.line(t))
				require.NoError(t, err)
				sum += n
				require.NoError(t, p.cmd.Wait(), p.stderr.String())
			}
			t.Logf("limit %d, %d processes of %d goroutines: %d allowed, %+d", hammerLimit, hammerProcesses, hammerGoroutines, sum, sum-hammerLimit)
			require.GreaterOrEqual(t, sum, hammerLimit)
			require.LessOrEqual(t, sum, hammerLimit+(hammerProcesses-1)*hammerGoroutines)
		})
	}
}

// A process is this test's binary again.
type process struct {
	cmd    *exec.Cmd
	stderr strings.Builder
	lines  *bufio.Scanner
	stdin  io.WriteCloser
}

func start(t *testing.T, url string) *process {
	self, err := os.Executable()
	require.NoError(t, err)
	p := &process{cmd: exec.CommandContext(t.Context(), self)}
	p.cmd.Env = append(os.Environ(), hammerEnv+"="+url)
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.lines = bufio.NewScanner(out)
	p.stdin, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	return p
}

func (p *process) begin(t *testing.T) {
	_, err := fmt.Fprintln(p.stdin)
	require.NoError(t, err)
}

func (p *process) line(t *testing.T) string {
	require.True(t, p.lines.Scan(), p.stderr.String())
	return p.lines.Text()
}
