package redis_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// A key whose slot moves counts once at each step: what a node refuses to run is sent where it points to.
func TestASlotThatMoves(t *testing.T) {
	t.Parallel()
	servers := servertest.RedisCluster(t, 3)
	nodes := clients(t, servers)
	scanAtEnd(t, nodes...)
	store := open(t, clusterClient(t, servers), redis.Options{})
	var batch []wrstats.Increment
	var keys []string
	for i := range 20 { // all in one slot of the first node, others elsewhere
		keys = append(keys, fmt.Sprintf("{%s}%d", keyOf(t, servers[0]), i), fmt.Sprint("k", i))
		batch = append(batch, one(keys[2*i], 1), one(keys[2*i+1], 1))
	}
	rounds := int64(0)
	check := func(step string) {
		count(t, store, batch...)
		rounds++
		for i, v := range get(t, store, keys...) {
			require.Equal(t, found(rounds), v, "%s: %s", step, keys[i])
		}
	}
	check("at first")
	slot := servers[0].Redis("CLUSTER", "KEYSLOT", keys[0])
	from, to := servers[0].Redis("CLUSTER", "MYID"), servers[1].Redis("CLUSTER", "MYID")
	servers[1].Redis("CLUSTER", "SETSLOT", slot, "IMPORTING", from)
	servers[0].Redis("CLUSTER", "SETSLOT", slot, "MIGRATING", to)
	check("migrating, none moved")
	move := func(keys ...string) {
		host, port, _ := strings.Cut(servers[1].Addr, ":")
		servers[0].Redis(append([]string{"MIGRATE", host, port, "", "0", "5000", "KEYS"}, keys...)...)
	}
	move(keys[0], keys[2], keys[4])
	check("migrating, some moved")
	for i := 6; i < len(keys); i += 2 {
		move(keys[i])
	}
	check("migrating, all moved")
	servers[1].Redis("CLUSTER", "SETSLOT", slot, "NODE", to)
	servers[0].Redis("CLUSTER", "SETSLOT", slot, "NODE", to)
	check("moved")
	check("after that")
}

// keyOf returns a key in one of the slots of the first of three nodes.
func keyOf(t testing.TB, server *servertest.Server) string {
	for i := range 10_000 {
		key := fmt.Sprint("tag", i)
		slot, err := strconv.Atoi(server.Redis("CLUSTER", "KEYSLOT", key))
		require.NoError(t, err)
		if slot < 5000 {
			return key
		}
	}
	t.Fatal("no key")
	return ""
}
