package memcached

import (
	"sync"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

const (
	// pieceSize is about how much of a batch is encoded, sent and confirmed at a time.
	pieceSize = 64 << 10

	// recordPieceSize is that over TLS, where a piece is one record: of an add whose line is the end of a
	// record memcached reads the value from the next one, and forgets what else that one holds.
	recordPieceSize = 8 << 10

	// textFenceKeys is how many keys the fence of a piece in Text reads, or fewer. A proxy answers for
	// the servers of those keys only.
	textFenceKeys = 16

	// A piece goes over pieceSize by less than an increment and a fence.
	maxOver = 2*(maxKey+64) + 64 + textFenceKeys*(maxKey+1)
)

// A piece is the encoded increments of one block and their fence.
type piece struct{ buf []byte }

var pieces = sync.Pool{New: func() any { return &piece{make([]byte, 0, pieceSize+maxOver)} }}

// A spelling is how increments are sent on one stream.
type spelling struct {
	prefix string // of keys
	meta   bool
	size   int // pieceSize or recordPieceSize
}

func (s spelling) append(dst []byte, inc *wrstats.Increment, now time.Time) []byte {
	if s.meta {
		return appendMeta(dst, s.prefix, inc.Key, exptime(inc.TTL, now), inc.Delta)
	}
	return appendText(dst, s.prefix, inc.Key, exptime(inc.TTL, now), inc.Delta)
}

// encode makes the piece of as many increments as go into one, and notes them in b.
func (p *piece) encode(s spelling, rest share[wrstats.Increment], now time.Time, b *block) {
	p.buf = p.buf[:0]
	for i := 0; i < rest.len() && len(p.buf) < s.size; i++ {
		inc := rest.at(i)
		p.buf = s.append(p.buf, inc, now)
		b.add(inc.Delta)
	}
	p.fence(s, rest, len(b.deltas))
}

// fence ends a piece of n increments. In Text it is a read of some of their keys, evenly spread.
func (p *piece) fence(s spelling, rest share[wrstats.Increment], n int) {
	if s.meta {
		p.buf = appendMetaFence(p.buf)
		return
	}
	p.buf = append(p.buf, "get"...)
	for i := 0; i < n; i += (n + textFenceKeys - 1) / textFenceKeys {
		p.buf = appendKey(p.buf, s.prefix, rest.at(i).Key)
	}
	p.buf = append(p.buf, "\r\n"...)
}

// whole returns how many of a piece's increments are within its first size bytes. One that has not been
// sent to its last byte is none to the server.
func (p *piece) whole(s spelling, rest share[wrstats.Increment], now time.Time, size int) int {
	for i := 0; ; i++ {
		if i == rest.len() {
			return i
		}
		p.buf = s.append(p.buf[:0], rest.at(i), now)
		if size -= len(p.buf); size < 0 {
			return i
		}
	}
}
