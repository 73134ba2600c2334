package memcached

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/wrstats/go-wrstats/wrstats"
)

const (
	getKeys   = 100 // in one request
	getWindow = 8   // requests on their way
)

// Get reads counters. All servers are asked at once, each with several requests on their way. What it
// returns is all that it allocates, but for a few objects a server.
//
// A wrong key ([ErrKey]) and a value that is not a number from 0 to 2^63-1 are not Found, and counted.
// A counter that a server got shorter by has spaces behind it, which do not matter.
//
// When a server fails and others have answered, the error wraps [wrstats.ErrPartial] and holds an
// [*OpError] for each that failed; their keys are not Found. When nobody has answered there are no
// values, and the error does not wrap ErrPartial.
func (s *Store) Get(ctx context.Context, keys []string) ([]wrstats.Value, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	values := make([]wrstats.Value, len(keys))
	p := s.planKeys(keys)
	defer plans.Put(p)

	var a answers
	a.add(0, p.err)
	s.spread(p, nil, func(server *server, order []int32) {
		a.add(server.get(ctx, share[string]{keys, order}, values))
	})
	err := errors.Join(a.errs...)
	switch {
	case err == nil:
		return values, nil
	case s.closed.Load():
		return nil, errClosed
	case a.n == 0:
		return nil, err
	}
	return values, partialError{wrstats.ErrPartial, err}
}

// answers is what came of one call, from several servers.
type answers struct {
	mu   sync.Mutex // guards what follows
	n    int        // requests that were answered
	errs []error
}

func (a *answers) add(n int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n += n
	if err != nil {
		a.errs = append(a.errs, err)
	}
}

// planKeys places keys.
func (s *Store) planKeys(keys []string) *plan {
	p := newPlan(len(keys))
	for i, key := range keys {
		err := checkKey(key, len(s.config.RoutePrefix))
		if err != nil {
			p.at[i] = nowhere
			s.refuse(err)
			continue
		}
		if p.at[i], err = s.locate(key, p.scratch); err != nil {
			p.fail(i, err)
		}
	}
	p.sort(len(s.directory.all()))
	return p
}

// get reads the server's share of the keys into values. answered is how many requests were.
func (s *server) get(ctx context.Context, sh share[string], values []wrstats.Value) (answered int, err error) {
	g := getting{server: s, sh: sh, values: values}
	s.counters.commands.Add(int64(sh.len()))
	err = s.use(ctx, "get", g.run)
	if err == nil && g.err != nil {
		err = &OpError{"get", s.addr.text, g.err}
	}
	return g.answered, err
}

// A getting is the reading of one server's share.
type getting struct {
	server   *server
	sh       share[string]
	values   []wrstats.Value
	done     int   // requests that were replied to,
	answered int   // with values,
	err      error // or not, and why the first was not
}

// run does the requests that are not done yet.
func (g *getting) run(ctx context.Context, c *readConn) error {
	start := g.done
	n := (g.sh.len() + getKeys - 1) / getKeys
	prefix := g.server.store.config.RoutePrefix
	return c.pipeline(ctx, n-start, getWindow,
		func(dst []byte, i int) []byte { return appendGet(dst, prefix, g.chunk(start+i)) },
		func(i int) error { return g.reply(c.r, prefix, g.chunk(start+i)) })
}

// chunk is the keys of one request.
func (g *getting) chunk(i int) share[string] {
	return g.sh.from(i * getKeys).to(min(getKeys, g.sh.len()-i*getKeys))
}

func appendGet(dst []byte, prefix string, keys share[string]) []byte {
	dst = append(dst, "get"...)
	for i := range keys.len() {
		dst = appendKey(dst, prefix, *keys.at(i))
	}
	return append(dst, "\r\n"...)
}

// reply reads one reply. A SERVER_ERROR takes the place of one; after anything else that is wrong nobody
// knows which reply is which.
func (g *getting) reply(r *bufio.Reader, prefix string, keys share[string]) error {
	found, wrong, err := readValues(r, prefix, keys, g.values)
	g.server.count(Found, found)
	if wrong > 0 {
		g.server.count(NotNumber, wrong)
		g.server.report(NotNumber, &OpError{"get", g.server.addr.text, &ReplyError{Kind: NotNumber}})
	}
	if isServerFailed(err) {
		g.server.reportReply("get", err)
		if g.err == nil {
			g.err = err
		}
		g.done++
		return nil
	}
	if err != nil {
		return err
	}
	g.server.count(Done, 1)
	g.done++
	g.answered++
	return nil
}

// readValues reads the reply to one get into the values of its keys: found numbers, and values that are
// wrong. Servers answer in the order of the keys, and leave out those they have not; a proxy may have
// another order.
func readValues(r *bufio.Reader, prefix string, keys share[string], values []wrstats.Value) (found, wrong int, err error) {
	for next := 0; ; {
		line, err := readLine(r)
		if err != nil {
			return found, wrong, err
		}
		if string(line) == "END" {
			return found, wrong, nil
		}
		key, size, ok := parseValueLine(line, likely(keys, next))
		if !ok {
			return found, wrong, replyError(classify(line), line)
		}
		at := find(keys, next, bytes.TrimPrefix(key, []byte(prefix)))
		if at < 0 || found+wrong == keys.len() {
			return found, wrong, errMalformed // nobody asked for it
		}
		next = at + 1
		n, ok, err := readNumber(r, size)
		if err != nil {
			return found, wrong, err
		}
		if !ok {
			wrong++
			continue
		}
		found++
		values[keys.index(at)] = wrstats.Value{N: n, Found: true}
	}
}

// likely is the key that comes next if the server has it.
func likely(keys share[string], next int) string {
	if next < keys.len() {
		return *keys.at(next)
	}
	return ""
}

// find returns which of the keys it is, from next on and around; -1: none.
func find(keys share[string], next int, key []byte) int {
	for i := next; i < keys.len(); i++ {
		if *keys.at(i) == string(key) {
			return i
		}
	}
	for i := range min(next, keys.len()) {
		if *keys.at(i) == string(key) {
			return i
		}
	}
	return -1
}

// maxNumber is longer than any counter, with its spaces.
const maxNumber = 64

// readNumber reads the data of a value.
func readNumber(r *bufio.Reader, size int) (n int64, ok bool, err error) {
	if size > maxNumber {
		return 0, false, skipValue(r, size)
	}
	data, err := r.Peek(size + 2)
	if err != nil {
		return 0, false, err
	}
	if string(data[size:]) != "\r\n" {
		return 0, false, errMalformed
	}
	n, ok = parseNumber(data[:size])
	_, err = r.Discard(size + 2)
	return n, ok, err
}
