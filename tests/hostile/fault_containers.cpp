// SPDX-License-Identifier: BSD-3-Clause
#include "hostile/fault_containers.hpp"

#include <map>
#include <new>
#include <scute/containers.hpp>
#include <scute/scute.hpp>
#include <sstream>
#include <stdexcept>

namespace scute::test {
namespace {

struct containers {
  uint64_t counter;
  scute::hash_map<uint64_t, scute::string> hash;
  scute::ordered_map<uint64_t, uint64_t> ordered;
  scute::vector<uint64_t> array;
  scute::queue<uint64_t> line;
  scute::string text;
};
static_assert(sizeof(containers) <= containers_size);

// The C++ interface on a handle that its user closes elsewhere.
class borrowed_pool : public scute::reader {
 public:
  explicit borrowed_pool(scute_pool* handle) {
    scute_info i{};
    i.struct_size = sizeof i;
    scute_pool_info(handle, &i);
    map_.handle = handle;
    map_.base = scute_direct_base(handle);
    map_.first = uint64_t{i.tag} << 48;
    map_.recovering = i.unresolved != 0;
    map_.reads.units = map_.recovering ? 0 : (i.size - SCUTE_DIRECT_MAX) / 32;
    map_.limit = i.size;
    attach(&map_);
  }
  borrowed_pool(const borrowed_pool&) = delete;
  borrowed_pool& operator=(const borrowed_pool&) = delete;

 private:
  scute::detail::mapping map_;
};

template <typename Fn>
int change(scute_pool* handle, Fn&& body) {
  scute_oid root = 0;
  if (const int e = scute_root(handle, containers_size, 1, &root); e != SCUTE_OK) return e;
  try {
    const borrowed_pool pool(handle);
    scute::transaction tx(pool);
    body(tx, tx.open(scute::ptr<containers>(root)));
    tx.commit();
  } catch (const scute::error& e) {
    return static_cast<int>(e.which());
  } catch (const std::bad_alloc&) {  // while the exception above was made
    return SCUTE_E_NOMEM;
  }
  return SCUTE_OK;
}

}  // namespace

void fill_containers(scute_pool* pool) {
  const int e = change(pool, [](scute::tx& tx, containers& s) {
    for (uint64_t i = 0; i < 40; ++i) {
      s.hash.insert(tx, i, std::string(i * 3, 'h'));
      s.ordered.insert(tx, i * 2, i);
      s.array.push_back(tx, i);
      s.line.push(tx, i);
    }
    s.text.assign(tx, std::string(100, 't'));
  });
  if (e != SCUTE_OK) throw std::runtime_error(scute_errormsg());
}

std::string contents_of_containers(scute_pool* handle, scute_oid root) {
  const borrowed_pool pool(handle);
  const containers& s = pool.get(scute::ptr<containers>(root));
  s.hash.check(pool);
  s.ordered.check(pool);
  std::ostringstream out;
  std::map<uint64_t, std::string> sorted;
  for (const auto& [key, value] : s.hash.scan(pool)) sorted[key] = value.str(pool);
  for (const auto& [key, value] : sorted) out << " h" << key << '=' << value;
  for (const auto& [key, value] : s.ordered.scan(pool)) out << " o" << key << '=' << value;
  for (const uint64_t v : s.array.scan(pool)) out << " v" << v;
  for (const uint64_t v : s.line.scan(pool)) out << " q" << v;
  out << " s" << s.text.view(pool);
  return out.str();
}

int change_hash_map(scute_pool* pool) {
  return change(pool, [](scute::tx& tx, containers& s) {
    for (uint64_t i = 30; i < 60; ++i) s.hash.insert_or_assign(tx, i, std::string(i, 'n'));
    for (uint64_t i = 0; i < 30; ++i) s.hash.erase(tx, i);
  });
}

int change_ordered_map(scute_pool* pool) {
  return change(pool, [](scute::tx& tx, containers& s) {
    for (uint64_t i = 0; i < 90; ++i) s.ordered.insert(tx, i, i);
    for (uint64_t i = 20; i < 80; ++i) s.ordered.erase(tx, i);
  });
}

int change_vector(scute_pool* pool) {
  return change(pool, [](scute::tx& tx, containers& s) {
    for (uint64_t i = 0; i < 600; ++i) s.array.push_back(tx, i);
    s.array.pop_back(tx);
  });
}

int change_queue(scute_pool* pool) {
  return change(pool, [](scute::tx& tx, containers& s) {
    for (uint64_t i = 0; i < 150; ++i) s.line.push(tx, i);
    for (uint64_t i = 0; i < 140; ++i) s.line.pop(tx);
  });
}

int change_string(scute_pool* pool) {
  return change(pool, [](scute::tx& tx, containers& s) {
    s.text.append(tx, std::string(500, 'a'));
    s.text.append(tx, "b");
  });
}

int clear_containers(scute_pool* pool) {
  return change(pool, [](scute::tx& tx, containers& s) {
    s.hash.clear(tx);
    s.ordered.clear(tx);
    s.array.clear(tx);
    s.line.clear(tx);
    s.text.clear(tx);
  });
}

}  // namespace scute::test
