import HTTPClient
