package redis_test

import (
	"testing"

	"github.com/wrstats/go-wrstats/internal/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }
