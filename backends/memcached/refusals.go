package memcached

import "sync/atomic"

// refusals counts what is not sent because it is wrong.
type refusals struct {
	count    atomic.Int64
	key, inc atomic.Bool // OnError was told of an ErrKey, of an ErrNegative
}

// refuse counts a wrong key or increment, and tells OnError of the first of each.
func (s *Store) refuse(err error) {
	s.refusals.count.Add(1)
	told := &s.refusals.key
	if err == ErrNegative {
		told = &s.refusals.inc
	}
	if told.CompareAndSwap(false, true) {
		s.config.OnError(err)
	}
}
