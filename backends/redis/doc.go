// Package redis keeps counters on Redis: one server, a primary behind Sentinels, a Cluster, or a
// [goredis.Ring] of servers. It needs a [goredis.UniversalClient] of go-redis, whose connections, hooks and
// timeouts it uses. The client stays the caller's.
//
// It is tested on Redis 7.0 and on miniredis. All the commands that it sends are in Redis 6.0 too, and in
// Valkey, on which it has not been tested.
//
// # What is written
//
// A counter is a string key that holds an integer, as INCRBY leaves it. A batch goes out in pieces of some
// hundred counters, each piece one call of a short script that creates what is missing with its TTL and adds
// to what exists. The server runs a script as a whole, its clock stands still meanwhile and nothing is
// evicted, so no key is ever without a TTL: not when a reply is lost, the process dies, the key was evicted
// since the last write, or ends at that very moment. No later write renews a TTL. A Cluster takes no command
// that touches several slots, so there each counter is a call of its own, pipelined by node.
//
// An ACL user needs EVALSHA, EVAL, EXISTS, SET, INCRBY, GET, MGET and UNLINK on its keys. A user who may not
// touch some keys of a batch loses these only.
//
// # At most once
//
// go-redis sends a pipeline again when its reply is late ([goredis.Options.MaxRetries]; MaxRedirects on a
// Cluster), which would count it twice. Commands of this package forbid it one by one, whatever the options
// say: no client has to be set up for it, and none is refused. What is sent again is only what a server
// refused as a whole: an unknown script, a slot that has moved. Reads and deletes are retried as the client's
// options say. These of its options do matter:
//   - ReadTimeout and WriteTimeout bound how long a batch stays open, and so how long Close takes. They
//     should not be disabled.
//   - PoolSize bounds how many calls are under way at once, also those that nobody waits for any more. When
//     no connection is free for PoolTimeout, a batch comes back as not sent.
//   - A hook of the caller's must not run a pipeline twice.
//   - ReadOnly, RouteByLatency and RouteRandomly of a Cluster read from replicas, which lag behind.
//
// Limitations: what a primary has confirmed and not yet sent to its replica is gone when the primary is. A
// Ring that takes a dead shard out moves its keys to others, and the old counts are missing meanwhile.
package redis
