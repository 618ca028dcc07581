// SPDX-License-Identifier: BSD-3-Clause
#include "pow/objects.hpp"

#include "failure.hpp"

namespace scute_tool {

void for_each_object(store_file& file, const scute_pow_table_info& table,
                     const std::function<void(const object&)>& fn) {
  scute_pow_serializer k{};
  k.struct_size = sizeof k;
  k.type = table.type;
  k.size = table.size;
  k.chooses_indexes = 1;
  k.arg = const_cast<std::function<void(const object&)>*>(&fn);
  // (Nothing is ever written.)
  k.measure = [](void*, uint64_t) -> int64_t { return SCUTE_E_UNSUPPORTED; };
  k.encode = [](void*, uint64_t, void*) {};
  k.load = [](void* arg, uint64_t id, const void* bytes, uint32_t n) {
    (*static_cast<const std::function<void(const object&)>*>(arg))(
        {id, {static_cast<const unsigned char*>(bytes), n}});
    return static_cast<int>(SCUTE_OK);
  };
  working_on(file.path(), [&] {
    scute_pow_table* opened = nullptr;
    scute::detail::check(
        scute_pow_table_open(file.store().native_handle(), table.name, &k, &opened));
  });
}

}  // namespace scute_tool
