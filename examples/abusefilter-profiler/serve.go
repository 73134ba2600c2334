package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile"
)

const (
	slowRule      = 20 * time.Microsecond // that the pages mark
	pageRefresh   = 2 * time.Second
	headerTimeout = 10 * time.Second
)

// serve shows the profile as pages at -serve, and returns what stops that.
func (s *session) serve(store wrstats.Store) (stop func() error, err error) {
	listener, err := net.Listen("tcp", s.opts.serve)
	if err != nil {
		return nil, fmt.Errorf("-serve: %w", err)
	}
	server := &http.Server{
		Handler:           s.pages(store),
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          log.New(io.Discard, "", 0), // of clients that break off
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	fmt.Fprintf(s.stderr, "%s: the profile is at http://%s/\n", program, listener.Addr())
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		err := server.Shutdown(ctx)
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}

func (s *session) pages(store wrstats.Store) http.Handler {
	return profile.Handler(s.profiler, profile.HandlerOptions{
		Title:   "Profile of filters",
		Rules:   func(context.Context) ([]string, error) { return s.rules.ids(), nil },
		Groups:  func(context.Context) ([]string, error) { return s.rules.groupNames(), nil },
		Store:   store,
		Slow:    slowRule,
		Refresh: pageRefresh,
		Now:     s.pace.now,
	})
}

// linger waits for the interrupt that ends the pages, when the replay is at its end.
func (s *session) linger(ctx context.Context) {
	if s.opts.serve == "" || ctx.Err() != nil {
		return
	}
	fmt.Fprintf(s.stderr, "%s: the replay is at its end; an interrupt ends the pages\n", program)
	<-ctx.Done()
}
