package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/servertest"
)

// programEnv makes a process of this test binary the program.
const programEnv = "WRSTATS_TEST_ABUSEFILTER_PROFILER"

func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		main() // which exits
	}
	servertest.Main(m)
}

// patience is for what a busy machine may take.
const patience = time.Minute

// A process is the program in a process of its own.
type process struct {
	cmd            *exec.Cmd
	feed           io.WriteCloser // its standard input, if it was given none
	stdout, stderr strings.Builder
}

// start starts a process. A nil stdin is what the test feeds it.
func start(t *testing.T, stdin io.Reader, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	p := &process{cmd: exec.CommandContext(ctx, self, args...)}
	p.cmd.Env = append(os.Environ(), programEnv+"=1")
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, &p.stdout, &p.stderr
	if stdin == nil {
		p.feed, err = p.cmd.StdinPipe()
		require.NoError(t, err)
	}
	require.NoError(t, p.cmd.Start())
	return p
}

func (p *process) write(t *testing.T, lines []byte) {
	t.Helper()
	_, err := p.feed.Write(lines)
	require.NoError(t, err)
}

// wait waits for the end of the process, by its own doing.
func (p *process) wait(t *testing.T) result {
	t.Helper()
	_ = p.cmd.Wait() // the state tells
	state := p.cmd.ProcessState
	require.NotNil(t, state)
	require.True(t, state.Exited(), "%v: %s", state, p.stderr.String())
	return result{state.ExitCode(), p.stdout.String(), told(p.stderr.String())}
}
