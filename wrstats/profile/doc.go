// Package profile measures what rules, filters or routes cost: how often each ran and matched, how long
// it took and how many conditions it evaluated, in rolling windows over all processes.
//
// An action, such as an edit or a request, is checked by a group of rules; [Profiler.Record] takes what
// each of them did. It touches memory only: an action of 300 rules costs microseconds. [Profiler.Rules]
// reads the profile of any number of rules at once, and [Profiler.Profile] their windows as well. [Handler] shows all
// that as pages.
//
// The counters are those of MediaWiki's AbuseFilter, so that with [wrstats.MediaWikiKeys] and the wiki's
// step and retention Go reads a wiki's profile: count, matches, total-time (milliseconds, resolution
// 0.001) and total-cond of the entity filter:<rule>, and total, overflow, matches, total-time and
// total-cond of the entity group:<name>. Quantiles of the rules' times are kept beside them; [QuantileOptions]
// says at what cost, and switches them off.
package profile
