"""Control tokens of the chat templates of open models, spelled exactly."""

TOKENS = (
    # ChatML, Qwen, Phi, gpt-oss
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>",
    "<|start|>", "<|channel|>", "<|message|>", "<|call|>", "<|return|>", "<|fim_prefix|>",
    # Llama
    "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>",
    "<|python_tag|>", "<|header_start|>", "<|eot|>", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<unk>",
    # Mistral
    "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]",
    "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CONTENT]", "[THINK]", "[/THINK]",
    # Gemma
    "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<pad>", "<start_of_image>", "<unused7>",
    "<|turn>", "<turn|>", "<|tool_call>", "<tool_call|>",
    # DeepSeek
    "<\uff5cUser\uff5c>", "<\uff5cAssistant\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "<\uff5ctool\u2581outputs\u2581begin\uff5c>",
    # Hermes and Qwen's tools, thinking
    "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>",
    # Command, Granite, GLM, EXAONE, Ling, Nemotron, Seed, MiniMax
    "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|start_of_role|>",
    "[gMASK]", "<sop>", "<|observation|>", "[|system|]", "[|endofturn|]", "<role>", "</role>",
    "<extra_id_0>", "<SPECIAL_12>", "<seed:bos>", "]~b]", "[e~[", "]~!b[",
    # images of llama.cpp
    "<__media__>",
)  # fmt: skip
