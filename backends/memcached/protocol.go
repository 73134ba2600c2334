package memcached

import (
	"context"
	"errors"
)

// errNoMeta is of a server that is to be written to in Meta and does not take it.
var errNoMeta = errors.New("the server does not take the meta commands ma and mn")

// dialWrite dials a connection for writing and finds out which protocol it takes. Whatever the answer,
// one has come by the end: nothing of a batch is risked on a server that accepts connections only.
//
// In Auto the question may cost the connection, when there is a proxy that closes on it or says
// nothing. The next connection is then spared it; the one after that is asked again.
func (s *server) dialWrite(ctx context.Context) (*link, error) {
	config := &s.store.config
	l, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	if config.Protocol == Text || s.spared {
		s.spared = false
		return l.greet(ctx)
	}
	takes, err := l.takesMeta(ctx)
	switch {
	case err == nil && takes:
		l.meta = true
		return l, nil
	case err == nil && config.Protocol == Auto:
		return l.greet(ctx)
	case err == nil:
		err = errNoMeta
	}
	l.conn.Close()
	if config.Protocol == Meta || ctx.Err() != nil {
		return nil, err
	}
	s.spared = true
	if isTimeout(err) { // who knows whether it is the question: not now
		return nil, err
	}
	return s.dialWrite(ctx)
}

// takesMeta asks the server for two meta commands, each of which gets one line.
func (l *link) takesMeta(ctx context.Context) (bool, error) {
	line, err := l.ask(ctx, appendProbe(nil, l.server.store.config.RoutePrefix))
	if err != nil {
		return false, err
	}
	if reply := replyError(classify(line), line); reply.Reason == unauthenticated { // said once for both
		return false, reply
	}
	takes := metaStatus(line, "NF") || metaStatus(line, "HD")
	line, err = l.ask(ctx, nil)
	if err != nil {
		return false, err
	}
	return takes && string(line) == "MN", nil
}

// greet reads a key that nobody writes, to see that there is somebody who answers. An error that is
// the server's own is an answer too: a proxy's, whose servers may have the keys that matter.
func (l *link) greet(ctx context.Context) (*link, error) {
	line, err := l.ask(ctx, appendGreeting(nil, l.server.store.config.RoutePrefix))
	if err == nil && string(line) != "END" {
		if kind := classify(line); kind != ServerFailed {
			err = replyError(kind, line)
		}
	}
	if err != nil {
		l.conn.Close()
		return nil, err
	}
	return l, nil
}
