// SPDX-License-Identifier: BSD-3-Clause
// actor.hpp: one writer: what its transaction n does to the pool, and what it does to a model of
// the pool that lives outside of it. Both follow from (seed, actor, n, way) alone.
//
// An actor has a root object with the number of its last transaction, written by that very
// transaction. The root is the actor's own, except for the crowd, whose members share one
// (crowd_actor.cpp).
#pragma once

#include "dice.hpp"
#include "ledger.hpp"

#include <scute/scute.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

namespace scute_torture {

using namespace scute_tools;

// The pool is not what it must be.
class violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class actor {
 public:
  actor(uint64_t seed, unsigned index, const char* kind) : seed_(mix(seed, index)) {
    name_ = "writer " + std::to_string(index) + " (" + kind + ")";
  }
  virtual ~actor() = default;
  actor(const actor&) = delete;
  actor& operator=(const actor&) = delete;

  const std::string& name() const { return name_; }

  // Makes the root object.
  virtual scute_oid make_root(scute::tx& tx) const = 0;
  void set_root(scute_oid root) { root_ = root; }
  scute_oid root() const { return root_; }
  // Where in the root the number is.
  virtual uint64_t number_at() const { return 0; }
  virtual uint64_t number_in(const scute::pool& pool) const {
    uint64_t number = 0;
    std::memcpy(&number, pool.bytes(root_, number_at(), sizeof number), sizeof number);
    return number;
  }

  // In the worker. The way that it would try first; the transaction, committed when it returns
  // (errc::nospc: it did not fit, and nothing happened).
  virtual way inclination() { return way::planned; }
  virtual void perform(const scute::pool& pool, uint64_t n, way how) = 0;

  // The model: transaction n has happened.
  virtual void advance(uint64_t n, way how) = 0;
  // Every byte. Throws violation.
  virtual void compare(const scute::pool& pool) const = 0;
  // The effect of transaction n, when the model stands at n - 1.
  virtual std::string describe(uint64_t n, way how) const = 0;

  // Objects of this type number are this actor's alone, and `owned` are all that there are. 0: the
  // actor cannot tell (containers keep their objects to themselves).
  virtual uint32_t type() const { return 0; }
  virtual std::set<scute_oid> owned(const scute::pool&) const { return {}; }
  // Frees everything but the root.
  virtual void clear(const scute::pool& pool) = 0;

 protected:
  dice dice_of(uint64_t n) const { return dice(mix(seed_, n)); }

  scute_oid root_ = SCUTE_OID_NULL;

 private:
  uint64_t seed_;
  std::string name_;
};

std::unique_ptr<actor> make_objects_actor(uint64_t seed, unsigned index);
std::unique_ptr<actor> make_containers_actor(uint64_t seed, unsigned index);
std::unique_ptr<actor> make_churn_actor(uint64_t seed, unsigned index);
// object: where the members of one crowd tell each other which it is.
std::unique_ptr<actor> make_crowd_actor(uint64_t seed, unsigned index,
                                        std::shared_ptr<scute_oid> object);

// "byte 7 of 100 is 0x12, not 0x34; 3 bytes differ, the last at 90", or "" if they are equal.
std::string difference(const void* found, const void* expected, uint64_t n);

}  // namespace scute_torture
