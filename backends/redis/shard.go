package redis

import (
	"context"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// A shard is what a pipeline can be sent to: a server, or a Cluster as a whole, which the client splits.
type shard struct {
	client  goredis.UniversalClient
	cluster *goredis.ClusterClient // nil: it is none, or not known to be one
	addr    string                 // "": several
	split   bool                   // one key a command
}

// addrOf names the server of a key that was sent something.
func (sh *shard) addrOf(ctx context.Context, key string) (addr string, ok bool) {
	if sh.cluster == nil {
		return sh.addr, true
	}
	node, err := sh.cluster.MasterForKey(ctx, key)
	if err != nil {
		return sh.addr, false
	}
	return node.Options().Addr, true
}

// A directory knows the shards of a client.
type directory struct {
	whole *shard // of a client that is no Ring
	ring  *goredis.Ring

	mu     sync.Mutex // guards shards
	shards map[*goredis.Client]*shard
}

func (d *directory) init(client goredis.UniversalClient) {
	switch c := client.(type) {
	case *goredis.Ring:
		d.ring = c
		d.shards = make(map[*goredis.Client]*shard)
	case *goredis.Client:
		d.whole = newNode(c)
	case *goredis.ClusterClient:
		d.whole = &shard{client: c, cluster: c, addr: "cluster", split: true}
	default:
		d.whole = &shard{client: c, addr: "server", split: true}
	}
}

func newNode(c *goredis.Client) *shard {
	return &shard{client: c, addr: c.Options().Addr}
}

// find returns the shard of a key.
func (d *directory) find(key string) (*shard, error) {
	if d.ring == nil {
		return d.whole, nil
	}
	client, err := d.ring.GetShardClientForKey(key)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	sh := d.shards[client]
	if sh == nil {
		if len(d.shards) > 2*d.ring.Len()+8 {
			clear(d.shards) // of clients that the Ring has no more
		}
		sh = newNode(client)
		d.shards[client] = sh
	}
	return sh, nil
}
