package memcached

import (
	"context"
	"errors"
)

// deleteWindow is how many deletes may be on their way.
const deleteWindow = 128

// Delete removes keys from all their servers at once. A key that is not there, or can't be ([ErrKey]), is
// no error. The error holds an [*OpError] for each server that failed; the keys of the others are gone.
//
// Increments that were handed over before and are not confirmed yet may be applied later than the
// delete: wait for their Receipts first.
func (s *Store) Delete(ctx context.Context, keys []string) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	p := s.planKeys(keys)
	defer plans.Put(p)

	var a answers
	a.add(0, p.err)
	s.spread(p, nil, func(server *server, order []int32) {
		a.add(0, server.delete(ctx, share[string]{keys, order}))
	})
	return errors.Join(a.errs...)
}

func (s *server) delete(ctx context.Context, sh share[string]) error {
	s.counters.commands.Add(int64(sh.len()))
	prefix := s.store.config.RoutePrefix
	done, failed := 0, error(nil)
	err := s.use(ctx, "delete", func(ctx context.Context, c *readConn) error {
		start := done
		return c.pipeline(ctx, sh.len()-start, deleteWindow,
			func(dst []byte, i int) []byte { return appendDelete(dst, prefix, *sh.at(start + i)) },
			func(int) error {
				err := c.deleted()
				if isServerFailed(err) { // takes the place of a reply
					s.reportReply("delete", err)
					failed, err = err, nil
				}
				if err == nil {
					done++
				}
				return err
			})
	})
	if err == nil && failed != nil {
		err = &OpError{"delete", s.addr.text, failed}
	}
	return err
}

// deleted reads the reply to one delete.
func (c *readConn) deleted() error {
	line, err := readLine(c.r)
	if err != nil {
		return err
	}
	if string(line) == "DELETED" || string(line) == "NOT_FOUND" {
		c.server.count(Done, 1)
		return nil
	}
	return replyError(classify(line), line)
}
