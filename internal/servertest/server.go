package servertest

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	startTries = 5                // somebody else may take the port first
	startWait  = 10 * time.Second // for a server to accept
)

// A Server is a process that a test runs. It ends with the test.
type Server struct {
	Network string // tcp or unix
	Addr    string // host:port, or the path of the socket

	t      testing.TB
	path   string
	args   []string
	cmd    *exec.Cmd // nil: not running
	ended  chan struct{}
	output output
}

// start makes a server and starts it, until one comes up.
func start(t testing.TB, make func() *Server) *Server {
	t.Helper()
	var err error
	for range startTries {
		s := make()
		s.t = t
		if err = s.run(); err == nil {
			t.Cleanup(s.Kill)
			return s
		}
	}
	t.Fatalf("servertest: %v", err)
	return nil
}

// Kill ends the server without warning, whatever state it is in, and waits for that.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Kill()
	<-s.ended
	s.cmd = nil
}

// Stop freezes the server: the kernel still accepts connections and bytes for it, but nothing is
// answered before Continue.
func (s *Server) Stop() {
	s.t.Helper()
	s.signal(syscall.SIGSTOP)
	deadline := time.Now().Add(startWait)
	for !stopped(s.cmd.Process.Pid) {
		if time.Now().After(deadline) {
			s.t.Fatalf("servertest: %s does not stop", s.path)
		}
		time.Sleep(time.Millisecond)
	}
}

// Continue ends what Stop began.
func (s *Server) Continue() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if s.cmd == nil {
		s.t.Fatalf("servertest: %s: %v to a server that does not run", s.path, sig)
	}
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatalf("servertest: %s: %v: %v", s.path, sig, err)
	}
}

// Restart ends the server, if it runs, and starts it again at the same address.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	var err error
	for range startTries {
		if err = s.run(); err == nil {
			return
		}
	}
	s.t.Fatalf("servertest: %v", err)
}

// run starts the process and waits until it accepts connections.
func (s *Server) run() error {
	s.output.reset()
	cmd := exec.Command(s.path, s.args...)
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd, s.ended = cmd, make(chan struct{})
	go func() {
		defer close(s.ended)
		cmd.Wait()
	}()
	err := s.await()
	if err != nil {
		s.Kill()
	}
	return err
}

func (s *Server) await() error {
	deadline := time.After(startWait)
	for {
		accepts := s.accepts()
		select {
		case <-s.ended:
			return fmt.Errorf("%s %q ended at once: %s", s.path, s.args, s.output.text())
		case <-deadline:
			return fmt.Errorf("%s %q does not accept: %s", s.path, s.args, s.output.text())
		case <-time.After(10 * time.Millisecond): // time to fail on a port that is not free
		}
		if accepts {
			return nil
		}
	}
}

func (s *Server) accepts() bool {
	conn, err := net.DialTimeout(s.Network, s.Addr, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return s.Network != "tcp" || listens(s.cmd.Process.Pid, s.Addr)
}

// output keeps what a server prints, for the failure of its start.
type output struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len() > 1<<16 { // enough to tell why
		return len(p), nil
	}
	return o.buf.Write(p)
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Reset()
}
