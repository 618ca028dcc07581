// SPDX-License-Identifier: BSD-3-Clause
//
// containers.hpp: all persistent containers. Each also has a header of its own.
//
//   scute::string                 text or bytes, short ones inline       containers/string.hpp
//   scute::vector<T>              growing array                          containers/vector.hpp
//   scute::queue<T>               first in, first out                    containers/queue.hpp
//   scute::hash_map<K, V>         unordered map                          containers/hash_map.hpp
//   scute::ordered_map<K, V>      sorted map (B+tree)                    containers/ordered_map.hpp
//
// They may be nested: a map of vectors of strings is a type like any other.
#ifndef SCUTE_CONTAINERS_HPP
#define SCUTE_CONTAINERS_HPP

#include <scute/containers/hash_map.hpp>     // IWYU pragma: export
#include <scute/containers/ordered_map.hpp>  // IWYU pragma: export
#include <scute/containers/queue.hpp>        // IWYU pragma: export
#include <scute/containers/string.hpp>       // IWYU pragma: export
#include <scute/containers/vector.hpp>       // IWYU pragma: export

#endif
