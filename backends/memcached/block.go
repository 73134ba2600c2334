package memcached

import (
	"slices"
	"sync"

	"github.com/wrstats/go-wrstats/internal/receipt"
)

// A block is the increments of one piece of a batch, and the fence that ends it. Replies carry no key,
// so it keeps the deltas to tell how much an error may have cost.
type block struct {
	receipt *receipt.Receipt
	deltas  []int64
	sum     int64
	errors  int         // error lines that came before the fence
	err     *ReplyError // the first of them

	// The stream's mutex guards these.
	writing bool // by send, which will resolve the block
	fenced  bool // while it was being written
}

var blocks = sync.Pool{New: func() any { return new(block) }}

func newBlock(r *receipt.Receipt) *block {
	b := blocks.Get().(*block)
	*b = block{receipt: r, deltas: b.deltas[:0]}
	return b
}

func (b *block) add(delta int64) {
	b.deltas = append(b.deltas, delta)
	b.sum = receipt.Add(b.sum, delta)
}

// cut leaves the first n increments only.
func (b *block) cut(n int) {
	b.deltas, b.sum = b.deltas[:n], 0
	for _, delta := range b.deltas {
		b.sum = receipt.Add(b.sum, delta)
	}
}

// applied resolves the block: its fence came back, so what is lost is what errors tell of. Since it
// can't be known which increments they are about, they count as its largest ones.
func (b *block) applied(addr string) {
	var lost int64
	var err error
	if b.errors > 0 {
		slices.Sort(b.deltas)
		for _, delta := range b.deltas[max(0, len(b.deltas)-b.errors):] {
			lost = receipt.Add(lost, delta)
		}
		err = &OpError{"incr", addr, b.err}
	}
	b.resolve(lost, err)
}

// lost resolves the block: all of it may not have been applied.
func (b *block) lost(addr string, err error) {
	b.resolve(b.sum, &OpError{"incr", addr, err})
}

func (b *block) resolve(lost int64, err error) {
	r, sum := b.receipt, b.sum
	b.receipt, b.err = nil, nil
	blocks.Put(b)
	r.Resolve(sum, lost, err)
}
