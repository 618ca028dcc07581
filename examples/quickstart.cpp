#include <cstdint>
#include <iostream>
#include <scute/containers/vector.hpp>
#include <scute/scute.hpp>

struct state {  // the root object of the pool; starts as all zero bytes
  uint64_t runs;
  scute::vector<uint64_t> squares;
};

int main(int argc, char** argv) {
  auto pool = scute::pool::open_or_create(argc > 1 ? argv[1] : "quickstart.pool");
  auto root = pool.root<state>();
  pool.transact([&](scute::tx& tx) {  // both changes survive a crash, or neither does
    state& s = tx.open(root);
    s.runs += 1;
    s.squares.push_back(tx, s.runs * s.runs);
  });
  for (auto square : pool.get(root).squares.scan(pool)) std::cout << square << '\n';
}
