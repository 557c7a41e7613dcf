-- What wrk sends: every request is new, put together from a template and a file of prepared records (workload.py
-- writes both, and says what they are). Arguments: the folder with the files, their name, the first record to
-- use, and how many; only these are read.

local records, size, position = "", 0, 1
local texts, offsets, lengths = {}, {}, {}

local function content(path, from, count)
  local file = assert(io.open(path, "rb"))
  file:seek("set", from or 0)
  local text = file:read(count or "*a")
  file:close()
  return text or ""
end

function init(arguments)
  local folder, kind = arguments[1], arguments[2]
  local template, from = content(folder .. "/" .. kind .. ".template"), 1
  for first, offset, length, behind in template:gmatch("()@(%d+):(%d+)@()") do
    texts[#texts + 1] = template:sub(from, first - 1)
    offsets[#offsets + 1], lengths[#lengths + 1] = tonumber(offset), tonumber(length)
    size = math.max(size, offset + length)
    from = behind
  end
  texts[#texts + 1] = template:sub(from)
  records = content(folder .. "/" .. kind .. ".records", size * tonumber(arguments[3]), size * tonumber(arguments[4]))
end

local parts = {}

-- From the beginning again when there are no more: receiptd takes that for repeats, and the count of what is
-- stored shows it.
function request()
  if position + size - 1 > #records then position = 1 end
  for i = 1, #offsets do
    local at = position + offsets[i]
    parts[2 * i - 1] = texts[i]
    parts[2 * i] = records:sub(at, at + lengths[i] - 1)
  end
  parts[2 * #offsets + 1] = texts[#texts]
  position = position + size
  return table.concat(parts)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n@RESULT@{"answers": %d, "refused": %d, "broken": %d, "seconds": %.6f, "p50_ms": %.3f, "p99_ms": %.3f}\n',
    summary.requests - errors.status, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
