// What a DataLayout asks for: whether it can be stored, and how many bytes it takes.
#pragma once

#include "bandmill/io/data_file.hpp"

namespace bandmill::detail {

// These throw FileError for what cannot be stored.
void check_layout(const DataLayout& layout);
void check_text(const std::string& attribute, const AttributeValue& value);

std::int64_t bytes_each(NumberType type);
std::int64_t count_of(const DataLayout& layout, const Variable& variable);
// At least what the structure takes beside the values.
std::int64_t estimated_header_bytes(const DataLayout& layout);

} // namespace bandmill::detail
