-- What wrk sends: every request is new, put together from a template and a file of prepared records (workload.py
-- writes both). Arguments: the folder with the files, `events` or `contexts`.

local records, size, position = "", 0, 1
local make

local function content(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

-- The parts of a text between its marks.
local function split(text, mark)
  local parts, from = {}, 1
  while true do
    local first, last = text:find(mark, from, true)
    parts[#parts + 1] = text:sub(from, first and first - 1)
    if not first then return parts end
    from = last + 1
  end
end

function init(arguments)
  local folder, kind = arguments[1], arguments[2]
  records = content(folder .. "/" .. kind .. ".records")
  local head = content(folder .. "/" .. kind .. ".head")
  local body = split(content(folder .. "/" .. kind .. ".body"), "@ID@")
  if kind == "events" then
    -- identifier (24), signature (64)
    size = 88
    make = function(record) return head .. record:sub(25) .. "\r\n\r\n" .. table.concat(body, record:sub(1, 24)) end
  else
    -- identifier (24), its base64 (32)
    size = 56
    local blob = split(body[2], "@BASE64@")
    make = function(record)
      return head .. body[1] .. record:sub(1, 24) .. blob[1] .. record:sub(25) .. blob[2]
    end
  end
end

-- From the beginning again when there are no more: receiptd takes that for repeats, and the count of what is
-- stored shows it.
function request()
  if position + size - 1 > #records then position = 1 end
  local record = records:sub(position, position + size - 1)
  position = position + size
  return make(record)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n@RESULT@{"answers": %d, "refused": %d, "broken": %d, "seconds": %.6f, "p50_ms": %.3f, "p99_ms": %.3f}\n',
    summary.requests - errors.status, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
