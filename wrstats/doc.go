// Package wrstats counts things in windows of time, on a store that processes share.
//
// A [Writer] buffers increments in memory and sends them, fire and forget, to time-bucketed keys of a
// [Store]. A [Reader] fetches the last windows in one multi-get and adds them up to a rolling total or
// rate. No key is ever read to be written, no caller of Add ever waits for a server, and a lost key
// costs one window of one counter, not the answer.
//
// [New] binds a store, which comes from package backends, to a [Config]: which metrics there are, how
// fine they are stored ([Metric.Resolution]) and in which windows ([Sequence]). What is counted is an
// [Entity]. A metric with a [Distribution] counts observed values in bins, for rolling quantiles.
package wrstats
