// SPDX-License-Identifier: BSD-3-Clause
//
// pow.hpp: DRAM structures that persist as they are written (persist-on-write files;
// docs/start/stores.md).
//
//   scute::pow::store db("cache.pow");
//   scute::pow::map<std::string, account> accounts(db, "accounts");
//   {
//     auto s = db.section(mutex);         // locks; several at a time: db.section(m1, m2)
//     accounts.edit("ann").balance += 5;  // may be written until the commit
//     accounts.erase("bob");
//     s.commit();                         // durable, then unlocked; without it nothing happened
//   }
//
// All structures are in DRAM; reading them is a plain read. At a section's end each object that it
// changed is appended to the file once, whole, with one fence. On a disk one sync serves all
// threads.
//
//   table<T>, ref<T>           objects that refer to each other: lists, trees, graphs
//   map, unordered_map         entries are objects
//   vector, queue, value       elements are objects
//
// Objects are trivially copyable without addresses, or have a codec (scute/pow/codec.hpp). A store
// outlives what lies in it. Errors are thrown as scute::error.
#ifndef SCUTE_POW_HPP
#define SCUTE_POW_HPP

#include <scute/pow/codec.hpp>     // IWYU pragma: export
#include <scute/pow/map.hpp>       // IWYU pragma: export
#include <scute/pow/sequence.hpp>  // IWYU pragma: export
#include <scute/pow/store.hpp>     // IWYU pragma: export
#include <scute/pow/table.hpp>     // IWYU pragma: export

#endif
