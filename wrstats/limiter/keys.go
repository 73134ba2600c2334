package limiter

import "github.com/wrstats/go-wrstats/wrstats"

// key returns the storage key of a bucket of a counter.
func (l *Limiter) key(c counter, bucket int64) string {
	return string(l.appendKey(nil, c, bucket))
}

func (l *Limiter) appendKey(dst []byte, c counter, bucket int64) []byte {
	return l.opts.Keys.AppendKey(dst, wrstats.Key{
		Keyspace: l.opts.Keyspace,
		Prefix:   l.opts.Prefix,
		Metric:   c.rule.Name,
		Sequence: c.rule.sequence,
		Bucket:   bucket,
		Entity:   c.entity,
	})
}

// appendKeys appends the keys of consecutive buckets, which share one string.
func (l *Limiter) appendKeys(dst []string, c counter, first, last int64) []string {
	const usual = 64 // bytes of a key, and more keys than are usual
	buf := make([]byte, 0, usual*(last-first+1))
	ends := make([]int, 0, usual)
	for bucket := first; bucket <= last; bucket++ {
		buf = l.appendKey(buf, c, bucket)
		ends = append(ends, len(buf))
	}
	all, start := string(buf), 0
	for _, end := range ends {
		dst = append(dst, all[start:end])
		start = end
	}
	return dst
}
