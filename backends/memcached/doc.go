// Package memcached keeps counters on memcached servers: one, several with keys spread over them, or a
// proxy such as twemproxy or mcrouter.
//
// Increments are written without waiting for a reply to each. They go down one connection a server as a
// stream, in pieces that end with a fence: something that the server answers when it has done all that
// came before. One goroutine a server reads the answers, and what else comes back.
//
// # What can be lost, and who says so
//
// An increment is sent once at most. When the server can't be reached it comes back as a
// [wrstats.NotSentError]. When a fence is overdue ([Config.Timeout]) or the connection breaks, all that was
// sent since the last fence that came counts as lost, though it may have been applied. An error that
// the server reports costs the largest increment of its piece. All of this the Receipt of
// [Store.Incr] tells, and [Store.Stats] and [Config.OnError].
//
// What nobody is told of: a counter that the server evicts to make room; in [Text], an increment of a value
// that is not a number; behind a proxy, an increment that the proxy took and could not deliver, if the fence,
// which reads up to 16 keys of its piece, happens to go to other servers. A proxy has one order for what
// one client sends and another server gets; with more than one connection to a server
// (server_connections of twemproxy) a read may overtake an increment that is confirmed.
//
// # How long keys live
//
// A key lives for its TTL at least, and less than three seconds longer. memcached takes more than 30 days
// only as the Unix time of the end, in 32 bits. So no key with such a TTL lives past 03:14:07 UTC on
// 19 January 2038, and one that is written after that is gone at once. TTLs of up to 29 days, such as
// those of the default retention, are not affected.
//
// # Servers
//
// memcached from 1.4.14 on, 1.6 for [Meta]. A counter wraps at 2^64 and is not Found from 2^63 on.
package memcached
