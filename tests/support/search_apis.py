"""A sample answer of each search API, as documented."""

from typing import Any

OPENAI: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1741386163,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "model": "gpt-6-astra",
    "output": [
        {"id": "rs_1", "type": "reasoning", "summary": []},
        {
            "id": "ws_1",
            "type": "web_search_call",
            "status": "completed",
            "action": {
                "type": "search",
                "query": "fried fish",
                "queries": ["fried fish"],
                "sources": [
                    {"type": "url", "url": "https://chips.example/"},
                    {"type": "url", "url": "https://fish.example/fry"},
                ],
            },
        },
        {
            "id": "ws_2",
            "type": "web_search_call",
            "status": "completed",
            "action": {"type": "open_page", "url": "https://fish.example/fry"},
        },
        {
            "id": "msg_1",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [
                {
                    "type": "output_text",
                    "text": "Fry it hot "
                    "([fish.example](https://fish.example/fry?utm_source=openai)).",
                    "annotations": [
                        {
                            "type": "url_citation",
                            "start_index": 11,
                            "end_index": 70,
                            "url": "https://fish.example/fry?utm_source=openai",
                            "title": "Frying fish",
                        }
                    ],
                }
            ],
        },
    ],
    "usage": {"input_tokens": 300, "output_tokens": 40, "total_tokens": 340},
}

SERPER: dict[str, Any] = {
    "searchParameters": {"q": "fried fish & chips", "type": "search", "num": 3, "engine": "google"},
    "answerBox": {
        "title": "Frying fish",
        "answer": "180 °C",
        "snippet": "At 180 degrees.",
        "link": "https://fish.example/fry",
    },
    "organic": [
        {
            "title": "Frying fish - a guide",
            "link": "https://fish.example/fry",
            "snippet": "Hot.",
            "position": 1,
        },
        {
            "title": "Chips",
            "link": "https://chips.example/",
            "snippet": "Cut them thick.",
            "date": "3 Mar 2025",
            "position": 2,
        },
    ],
    "relatedSearches": [{"query": "batter"}],
    "credits": 1,
}

BRAVE: dict[str, Any] = {
    "type": "search",
    "query": {"original": "fried fish & chips", "more_results_available": True},
    "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}]},
    "web": {
        "type": "search",
        "results": [
            {
                "type": "search_result",
                "title": "Frying fish &amp; more",
                "url": "https://fish.example/fry",
                "description": "It&#x27;s at <strong>180</strong> degrees.",
                "age": "March 3, 2025",
                "extra_snippets": ["Hot."],
            },
            {"type": "search_result", "title": "Chips", "url": "https://chips.example/"},
        ],
        "family_friendly": True,
    },
}

TAVILY: dict[str, Any] = {
    "query": "fried fish & chips",
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {
            "title": "Frying fish",
            "url": "https://fish.example/fry",
            "content": "At 180 degrees.",
            "score": 0.99,
            "raw_content": None,
        }
    ],
    "response_time": 1.5,
    "request_id": "123e4567",
}
