// SPDX-License-Identifier: BSD-3-Clause
#include "containers.hpp"

#include <cstdint>
#include <scute/containers.hpp>
#include <scute/scute.hpp>
#include <string>

#include "conditions.hpp"

namespace scute::fuzz {
namespace {

constexpr uint64_t elements_max = 5000;

struct stored_root {
  hash_map<uint64_t, string> hashed;
  ordered_map<string, uint64_t> ordered;
  vector<uint64_t> numbers;
  queue<uint64_t> waiting;
  string text;
};

// Runs code over the C++ interface, whose refusals are exceptions.
template <typename Fn>
bool attempt(const char* what, Fn&& fn) {
  try {
    fn();
    return true;
  } catch (const error& e) {
    checked_code(what, e.code().value(), e.what());
    return false;
  }
}

template <typename Range>
void scan(const char* what, Range&& range) {
  attempt(what, [&] {
    uint64_t n = 0;
    for (const auto& x : range()) {
      touch(&x, sizeof x);
      if (++n == elements_max) break;
    }
  });
}

void touch_text(std::string_view text) {
  touch(text.data(), text.size());
}

}  // namespace

struct containers::inside {
  pool p;

  // Null if the pool has no such root.
  ptr<stored_root> root() const {
    scute_oid oid = 0;
    const int code = scute_root(p.native_handle(), sizeof(stored_root), 0, &oid);
    return checked("root", code) == SCUTE_OK ? ptr<stored_root>(oid) : ptr<stored_root>();
  }
};

containers::containers(scute_pool* handle) : in_(new inside{pool::adopt(handle)}) {}
containers::~containers() = default;

bool containers::close() {
  return attempt("close", [&] { in_->p.close(); });
}

void containers::fill() {
  const auto root = in_->p.root<stored_root>();
  in_->p.transact([&](tx& t) {
    stored_root& r = t.open(root);
    for (uint64_t i = 0; i < 12; ++i) {
      const std::string text = "value number " + std::to_string(i * i * i * i * i);
      r.hashed.insert_or_assign(t, i * 977, text);
      r.ordered.insert_or_assign(t, text, i);
    }
    for (uint64_t i = 0; i < 40; ++i) {
      r.numbers.push_back(t, i * i);
      r.waiting.push(t, i);
    }
    r.text.assign(t, "a text that is too long to lie in its handle");
  });
}

void containers::read() {
  const auto at = in_->root();
  if (!at) return;
  const pool& p = in_->p;
  attempt("read the root", [&] {
    const stored_root& r = p.get(at);
    attempt("hash_map::check", [&] { r.hashed.check(p); });
    attempt("hash_map::get", [&] {
      if (const string* v = r.hashed.get(p, uint64_t{977})) touch_text(v->view(p));
    });
    attempt("ordered_map::check", [&] { r.ordered.check(p); });
    attempt("ordered_map::get", [&] {
      if (const uint64_t* v = r.ordered.get(p, "value number 1")) touch(v, sizeof *v);
    });
    scan("hash_map::scan", [&] { return r.hashed.scan(p); });
    scan("ordered_map::scan", [&] { return r.ordered.scan(p); });
    scan("vector::scan", [&] { return r.numbers.scan(p); });
    scan("queue::scan", [&] { return r.waiting.scan(p); });
    attempt("string::view", [&] { touch_text(r.text.view(p)); });
  });
}

void containers::change(uint32_t how, uint32_t value) {
  const auto at = in_->root();
  if (!at) return;
  const std::string text = "key " + std::to_string(value % 64) + std::string(value % 40, '.');
  attempt("change containers", [&] {
    in_->p.transact([&](tx& t) {
      stored_root& r = t.open(at);
      switch (how % 14) {
        case 0: r.hashed.insert_or_assign(t, value % 4096, text); break;
        case 1: r.hashed.erase(t, uint64_t{value % 13} * 977); break;
        case 2: r.ordered.insert_or_assign(t, text, value); break;
        case 3: r.ordered.erase(t, "value number " + std::to_string(value % 2)); break;
        case 4: r.numbers.push_back(t, value); break;
        case 5: r.numbers.pop_back(t); break;
        case 6: r.numbers.resize(t, value % 2000); break;
        case 7: r.waiting.push(t, value); break;
        case 8: r.waiting.pop(t); break;
        case 9: r.text.append(t, text); break;
        case 10: r.hashed.clear(t); break;
        case 11: r.ordered.clear(t); break;
        case 12: r.waiting.clear(t); break;
        default:
          for (uint32_t i = 0; i < 20; ++i)
            r.ordered.insert_or_assign(t, text + static_cast<char>('a' + i), i);
          for (uint64_t i = 0; i < 20; ++i) r.hashed.insert_or_assign(t, value % 997 + i, text);
      }
    });
  });
}

}  // namespace scute::fuzz
