package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/wrstats/go-wrstats/backends"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

// closeTimeout bounds how long the store may take to confirm and answer, after an interrupt too.
const closeTimeout = 10 * time.Second

var errUnconfirmed = errors.New("not all increments are confirmed")

// A session is one run of the program.
type session struct {
	opts           options
	rules          *ruleSet
	profiler       *profile.Profiler // nil with -no-profile
	replay         *replay
	pace           *pace // nil: no -serve, no -speed
	printed        bool
	stdout, stderr io.Writer
}

// profileEdits does what the options say. Rules are compiled before any edit is read.
func profileEdits(ctx context.Context, opts options, stdin io.Reader, stdout, stderr io.Writer) error {
	rules, err := loadRules(opts.rules)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, err := openInput(ctx, opts.in, stdin)
	if err != nil {
		return err
	}
	defer in.close()
	s := &session{opts: opts, rules: rules, stdout: stdout, stderr: stderr}
	if opts.serve != "" || opts.speed > 0 {
		s.pace = &pace{speed: opts.speed}
	}
	closeAll, err := s.openProfiler(ctx)
	if err != nil {
		return err
	}
	err = s.do(ctx, in)
	if err == nil {
		s.linger(ctx)
	}
	return errors.Join(err, closeAll(), s.lost())
}

// lost says what the store did not confirm of what it was handed, to the end of a replay and on the way, when
// there is any.
func (s *session) lost() error {
	if s.profiler == nil {
		return nil
	}
	lost := s.profiler.Stats().Lost
	if lost == 0 {
		return nil
	}
	return fmt.Errorf("%s units of the increments are lost", thousands(lost))
}

// openProfiler opens the store, the profiler and the pages, and returns what closes them.
func (s *session) openProfiler(ctx context.Context) (closeAll func() error, err error) {
	if s.opts.noProfile {
		return func() error { return nil }, nil
	}
	store, err := backends.Open(ctx, s.opts.backend)
	if err != nil {
		return nil, err
	}
	s.profiler, err = profile.New(store, s.profileOptions())
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	closeStore := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		return errors.Join(s.profiler.Close(ctx), store.Close())
	}
	if s.opts.serve == "" {
		return closeStore, nil
	}
	stop, err := s.serve(store)
	if err != nil {
		return nil, errors.Join(err, closeStore())
	}
	return func() error { return errors.Join(stop(), closeStore()) }, nil
}

// quantiles are of times that start lower than the profiler's own, as rules on one edit are quick.
var quantiles = profile.QuantileOptions{Min: 100 * time.Nanosecond, Max: time.Second}

func (s *session) profileOptions() profile.Options {
	return profile.Options{
		Prefix:    s.opts.prefix,
		Keyspace:  s.opts.keyspace,
		Step:      s.opts.window / windowSteps,
		Retention: s.opts.window,
		Quantiles: quantiles,
		Logger:    slog.New(slog.NewTextHandler(s.stderr, nil)),
		Writer:    wrstats.WriterOptions{MaxPending: newRoom(s.rules, wrstats.DefaultMaxPending).limit},
	}
}

// do replays the input and prints the profile of its end. A failure to read costs the rest of the input
// only; one before the first byte, and a line that -strict stops at, cost the profile.
func (s *session) do(ctx context.Context, in *input) error {
	if err := in.start(); err != nil && ctx.Err() == nil {
		return in.failed(err)
	}
	s.replay = newReplay(s.rules, s.profiler)
	s.replay.opts = s.opts
	s.replay.pace = s.pace
	s.replay.stderr = s.stderr
	s.replay.progress = newProgress(s.stderr)
	s.replay.emit = func(at time.Time) error { return s.print(ctx, at, nil) }
	failed := s.replay.all(ctx, in)
	var read *readError
	if failed != nil && !errors.As(failed, &read) {
		return failed
	}
	if failed == nil {
		failed = errNoEdits(in.name, &s.replay.counts, &s.opts)
	}
	return errors.Join(s.end(ctx), failed)
}

// end prints the profile as of -at or the newest edit, and the summary.
func (s *session) end(ctx context.Context) error {
	at := s.opts.at
	if at.IsZero() {
		at = s.replay.newest
	}
	return s.print(ctx, at, &summary{
		counts:   s.replay.counts,
		Oldest:   s.replay.oldest,
		Newest:   s.replay.newest,
		Profiled: s.profiler != nil,
		Failures: s.rules.failures(),
	})
}

// print prints the profile of an instant, if there is one, with the summary, if there is one. When the
// profile can't be read, the summary still says what was counted and what was lost.
func (s *session) print(ctx context.Context, at time.Time, sum *summary) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	r := &report{}
	var warning, failed error
	if s.profiler != nil && !at.IsZero() {
		if r, warning, failed = s.read(ctx, at); warning != nil {
			complain(s.stderr, fmt.Errorf("warning: the profile is not whole: %w", warning))
		}
	}
	if failed != nil && sum == nil {
		complain(s.stderr, failed) // a profile on the way: the replay goes on
		return nil
	}
	if whole := warning == nil && failed == nil; whole && sum != nil && !s.opts.at.IsZero() {
		s.hint(r)
	}
	s.summarize(r, sum, errors.Is(warning, errUnconfirmed))
	first := !s.printed
	s.printed = true
	return errors.Join(printers[s.opts.format](s.stdout, s.stderr, r, first), failed)
}

// hint says why the profile as of -at is empty, if it is.
func (s *session) hint(r *report) {
	if text := hintAt(r, s.replay.seen); text != "" {
		fmt.Fprintf(s.stderr, "%s: %s\n", program, text)
	}
}

// read reads the profile of an instant. A warning is why it may lack something, and failed why there is
// none.
func (s *session) read(ctx context.Context, at time.Time) (r *report, warning, failed error) {
	if err := s.profiler.Sync(ctx); err != nil {
		warning = fmt.Errorf("%w: %w", errUnconfirmed, err)
	}
	r, err := readReport(ctx, s.profiler, s.rules, s.opts, at)
	if err != nil && !errors.Is(err, wrstats.ErrPartial) {
		return &report{}, warning, err
	}
	return r, errors.Join(warning, err), nil
}

func (s *session) summarize(r *report, sum *summary, unconfirmed bool) {
	r.Summary = sum
	if sum != nil && s.profiler != nil {
		sum.Stats, sum.Unconfirmed = s.profiler.Stats(), unconfirmed
	}
}
