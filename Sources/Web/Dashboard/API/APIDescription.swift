// The description of the API (OpenAPI 3.1), made from its operations. Pure; called from any thread.

internal import Formats
internal import HTTPServer
internal import Service

struct APIDescription {
  let operations: [APIOperation]

  var document: JSONValue {
    [
      "openapi": "3.1.0",
      "info": [
        "title": "Receipt Relay: the API of operators", "version": .string(Version.number),
        "description": "Lists and objects are as `receiptctl` prints them with `--json`. Viewers may read.",
      ],
      "servers": [["url": .string(Dashboard.apiRoot)]], "security": [["token": []]],
      "paths": .object(operations.map { .init(name: $0.path, value: item($0)) }),
      "components": [
        "securitySchemes": [
          "token": [
            "type": "http", "scheme": "bearer",
            "description": "`token` of a user of `admin.operators` or `admin.viewers`",
          ]
        ],
        "responses": [
          "Problem": [
            "description": "Nothing was changed; `detail` says why, and what to do",
            "content": ["application/problem+json": ["schema": Self.problem]],
          ]
        ],
      ],
    ]
  }

  private static let problem: JSONValue = [
    "type": "object", "required": ["type", "title", "status", "detail", "request_id"],
    "properties": [
      "type": ["type": "string"], "title": ["type": "string"], "status": ["type": "integer"],
      "detail": ["type": "string"], "request_id": ["type": "string"],
    ],
  ]

  private func item(_ operation: APIOperation) -> JSONValue {
    let segments = operation.path.split(separator: "/")
    let placeholders = segments.filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    let inPath = placeholders.map { name -> JSONValue in
      [
        "name": .string(name), "in": "path", "required": true,
        "schema": ["type": "string", "minLength": 1],
      ]
    }
    let inQuery = operation.parameters().map { parameter -> JSONValue in
      [
        "name": .string(parameter.name), "in": "query", "description": .string(parameter.text),
        "schema": parameter.schema,
      ]
    }
    var described: JSONValue = [
      "tags": .array(segments.prefix(1).map { .string(String($0)) }), "summary": .string(operation.summary),
      "parameters": .array(inPath + inQuery),
    ]
    if let fields = operation.fields {
      described = described.adding(
        "requestBody", ["required": true, "content": ["application/json": ["schema": schema(fields)]]])
    }
    described = described.adding(
      "responses",
      [
        "200": ["description": "OK", "content": ["application/json": ["schema": operation.answer()]]],
        "default": ["$ref": "#/components/responses/Problem"],
      ])
    return operation.fields == nil ? ["get": described] : ["post": described]
  }

  private func schema(_ fields: [OperatorAction.Field]) -> JSONValue {
    [
      "type": "object", "additionalProperties": false,
      "required": .array(fields.filter(\.isRequired).map { .string($0.name) }),
      "properties": .object(fields.map { .init(name: $0.name, value: $0.schema) }),
    ]
  }
}

extension OperatorAction.Field {
  fileprivate var schema: JSONValue {
    let type: JSONValue =
      switch kind {
      case .text: "string"
      case .flag: "boolean"
      case .number: "number"
      }
    let description = JSONValue.string(text)
    guard isRequired else { return ["type": [type, "null"], "description": description] }
    return kind == .text
      ? ["type": type, "minLength": 1, "description": description]
      : ["type": type, "description": description]
  }
}

extension Dashboard {
  /// The schema of the answer to an action, or to its preview.
  static let changeSchema: JSONValue = [
    "anyOf": [
      [
        "type": "object", "required": ["resource", "id"],
        "properties": ["resource": ["type": "string"], "id": ["type": ["string", "null"]]],
      ],
      [
        "type": "object", "required": ["question", "text", "changes", "needs_why"],
        "properties": [
          "question": ["type": "string"], "text": ["type": "array", "items": ["type": "string"]],
          "changes": [
            "type": "array",
            "items": [
              "type": "object", "required": ["name", "was", "value"],
              "properties": [
                "name": ["type": "string"], "was": ["type": ["string", "null"]], "value": ["type": "string"],
              ],
            ],
          ], "needs_why": ["type": "boolean"],
        ],
      ],
    ]
  ]

  var apiDescriptionRoute: Route {
    Route(read: "\(Self.apiRoot)/openapi.json", label: Self.apiLabel) { _, exchange in
      exchange.answer(.json(APIDescription(operations: apiOperations).document))
    }
  }
}
