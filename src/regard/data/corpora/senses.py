"""Words with two meanings, and the clues that decide between them.

A clue is something that a person does. Each meaning has its own, so the sentence alone always decides. Clues come in
pairs, one for each meaning, and a pair is held out of training together.
"""

from dataclasses import dataclass

from regard.data.corpora.lexicon import pairs, rows


@dataclass(frozen=True)
class Clue:
    base: str
    gerund: str
    zh: str


@dataclass(frozen=True)
class Ambiguous:
    """A word, its two meanings (Chinese, measure word), and what may be done to both (English past, Chinese)."""

    word: str
    meanings: tuple[tuple[str, str], tuple[str, str]]
    deeds: tuple[tuple[str, str], ...]
    clues: tuple[tuple[Clue, Clue], ...]


def ambiguous(word: str, meanings: str, deeds: tuple[tuple[str, str], ...], clues: str) -> Ambiguous:
    first, second = pairs(meanings)
    paired = tuple((Clue(*row[:3]), Clue(*row[3:])) for row in rows(clues))
    return Ambiguous(word, (first, second), deeds, paired)


MENTIONING = pairs(
    "saw,看见 了; noticed,注意到 了; mentioned,提到 了; remembered,想起 了; described,描述 了; forgot,忘记 了;"
    "photographed,拍下 了; talked about,谈到 了"
)
NOTICING = (*MENTIONING, *pairs("found,找到 了; drew,画 了"))
# where *the* leaves no trace: 走到了银行
GOING = pairs(
    "walked to,走到 了; ran to,跑到 了; went to,去 了; drove to,开车 去 了; came to,来到 了; reached,到达 了;"
    "asked about,打听 了; mentioned,提到 了; looked for,寻找 了; photographed,拍下 了"
)

# A line of clues: base, gerund, Chinese for the first meaning; the same for the second.
AMBIGUOUS = (
    ambiguous(
        "bank",
        "河岸,; 银行,",
        GOING,
        "go fishing,going fishing,钓鱼, borrow money,borrowing money,借 钱;"
        "cross the river,crossing the river,过河, cross the road,crossing the road,过 马路;"
        "row a boat,rowing a boat,划船, open an account,opening an account,开户;"
        "feed the fish,feeding the fish,喂 鱼, exchange some dollars,exchanging some dollars,换 美元;"
        "catch some shrimps,catching some shrimps,捞 虾, pay the bill,paying the bill,付 账单",
    ),
    ambiguous(
        "bat",
        "球棒,根; 蝙蝠,只",
        NOTICING,
        "play baseball,playing baseball,打 棒球, explore the cave,exploring the cave,探索 山洞;"
        "hit the ball,hitting the ball,击球, study wild animals,studying wild animals,研究 野生 动物;"
        "join the team,joining the team,加入 球队, count the insects,counting the insects,数 昆虫",
    ),
    ambiguous(
        "crane",
        "鹤,只; 起重机,台",
        NOTICING,
        "watch the birds,watching the birds,观鸟, build a tower,building a tower,建 塔;"
        "visit the wetland,visiting the wetland,参观 湿地, lift the steel,lifting the steel,吊 钢材;"
        "collect some feathers,collecting some feathers,收集 羽毛, mix the concrete,mixing the concrete,搅拌 混凝土",
    ),
    ambiguous(
        "mouse",
        "老鼠,只; 鼠标,个",
        NOTICING,
        "set a trap,setting a trap,设 陷阱, turn on the laptop,turning on the laptop,打开 笔记本电脑;"
        "clean the barn,cleaning the barn,打扫 谷仓, repair the keyboard,repairing the keyboard,修 键盘;"
        "check the cellar,checking the cellar,检查 地窖, write a program,writing a program,写 程序",
    ),
    ambiguous(
        "letter",
        "信,封; 字母,个",
        NOTICING,
        "buy a stamp,buying a stamp,买 邮票, recite the alphabet,reciting the alphabet,背 字母表;"
        "open the envelope,opening the envelope,打开 信封, practise spelling,practising spelling,练习 拼写;"
        "visit the post office,visiting the post office,去 邮局, solve the crossword,solving the crossword,做 填字游戏",
    ),
    ambiguous(
        "spring",
        "泉水,处; 弹簧,根",
        NOTICING,
        "climb the mountain,climbing the mountain,爬山, repair the mattress,repairing the mattress,修 床垫;"
        "hike through the valley,hiking through the valley,穿越 山谷,"
        "take apart the watch,taking apart the watch,拆 手表;"
        "draw water,drawing water,打水, fix the sofa,fixing the sofa,修 沙发",
    ),
    ambiguous(
        "match",
        "比赛,场; 火柴,根",
        MENTIONING,
        "play tennis,playing tennis,打 网球, make a fire,making a fire,生火;"
        "interview the athlete,interviewing the athlete,采访 运动员, light the stove,lighting the stove,点 炉子;"
        "enter the stadium,entering the stadium,进 体育场, smoke a cigarette,smoking a cigarette,抽烟",
    ),
    ambiguous(
        "seal",
        "海豹,只; 印章,枚",
        NOTICING,
        "sail to the island,sailing to the island,坐船 去 岛上, sign the contract,signing the contract,签 合同;"
        "visit the aquarium,visiting the aquarium,参观 水族馆, copy the document,copying the document,复印 文件;"
        "cross the ice,crossing the ice,穿过 冰面, practise calligraphy,practising calligraphy,练 书法",
    ),
)
BANK = AMBIGUOUS[0]
